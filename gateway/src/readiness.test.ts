// When the gateway gets requests, and what it says of its dependencies.
import type { StoreState } from '@partner-loyalty/runtime/store/outage.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { createReadiness } from './readiness.ts';

const up = async (): Promise<StoreState> => undefined;
const full = async (): Promise<StoreState> => 'full';
const down = () => Promise.reject(new Error('down'));
const damaged = () => Promise.reject(Object.assign(new Error('damaged'), { name: 'StoreDamaged' }));

/** A gateway whose dependencies the test takes away. */
function setup({ isLocal }: { isLocal?: true } = {}) {
  const at = { now: 1_000, keyReadAt: Number.NEGATIVE_INFINITY };
  const ready = { keys: up, members: up, standings: up, redis: 'up' as 'up' | 'degraded' };
  const transport = (name: 'members' | 'standings'): Transport => ({
    ...(isLocal && { isLocal }),
    execute: () => ({}),
    ready: () => ready[name](),
    close: async () => {},
  });
  const readiness = createReadiness(
    {
      keyStore: { ready: () => ready.keys() },
      keyring: { lastReadAt: () => at.keyReadAt },
      transports: () =>
        (['members', 'standings'] as const).map((name) => [name, transport(name)] as const),
      counters: { state: () => ready.redis },
    },
    () => at.now,
  );
  return { at, ready, readiness };
}

const ALL_UP = { keys: 'up', members: 'up', standings: 'up', redis: 'up' };

test('ready while all dependencies are up', async () => {
  expect(await setup().readiness()).toEqual({ ok: true, dependencies: ALL_UP });
});

test('one dependency away does not take the gateway away, nor do both subgraphs', async () => {
  const { ready, readiness } = setup();
  ready.redis = 'degraded';
  ready.standings = down;
  const dependencies = { ...ALL_UP, redis: 'degraded', standings: 'down' };
  expect(await readiness()).toEqual({ ok: true, dependencies });
  ready.members = down;
  expect(await readiness()).toEqual({
    ok: true,
    dependencies: { ...dependencies, members: 'down' },
  });
});

test('a subgraph in the same process counts', async () => {
  const { ready, readiness } = setup({ isLocal: true });
  ready.standings = down;
  expect(await readiness()).toEqual({ ok: false, dependencies: { ...ALL_UP, standings: 'down' } });
});

test('a full disk is named, and takes nothing away: reads go on', async () => {
  const { ready, readiness } = setup({ isLocal: true });
  ready.keys = full;
  ready.members = full;
  const dependencies = { ...ALL_UP, keys: 'full', members: 'full' };
  expect(await readiness()).toEqual({ ok: true, dependencies });
});

test('keys that cannot be read are degraded for the 60 seconds of their grace, then down', async () => {
  const { at, ready, readiness } = setup();
  await readiness();
  ready.keys = down;
  at.now += 59_999;
  expect(await readiness()).toEqual({ ok: true, dependencies: { ...ALL_UP, keys: 'degraded' } });
  at.now += 1;
  expect(await readiness()).toEqual({ ok: false, dependencies: { ...ALL_UP, keys: 'down' } });
  at.keyReadAt = at.now - 59_999;
  expect((await readiness()).ok).toBe(true);
  at.now += 1;
  expect((await readiness()).ok).toBe(false);
  ready.keys = up;
  expect(await readiness()).toEqual({ ok: true, dependencies: ALL_UP });
});

test('a damaged store of keys has no grace', async () => {
  const { ready, readiness } = setup();
  ready.keys = damaged;
  expect(await readiness()).toEqual({ ok: false, dependencies: { ...ALL_UP, keys: 'down' } });
});
