// The gateway's own steps.

import { readFileSync } from 'node:fs';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { ApiError } from '@partner-loyalty/runtime/errors.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import type { StoreState } from '@partner-loyalty/runtime/store/outage.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { UNSHARED } from '../../test/support/requests/unshared.ts';
import type { Verdict } from './budget/limiter.ts';
import { createDocuments } from './document/documents.ts';
import { graphOf, SUPERGRAPH_FILE } from './graph/committed.ts';
import { createConnections } from './graph/connections.ts';
import { serveGraphs } from './graph/served.ts';
import type { Principal } from './identity/authenticate.ts';
import { createShared, operate } from './operate.ts';
import { createReadiness } from './readiness.ts';
import { EVERY_SCOPE } from './schema/scopes.ts';
import { beginRequest } from './state.ts';

// An operation may run while its budget is counted, but its result depends on the count.
describe('operate', () => {
  const READ = 'query ($email: String!) { memberByEmail(email: $email) { email } }';
  const CHANGE = 'mutation ($id: ID!) { endEnrollment(memberId: $id) { memberId } }';
  const CALLER: Principal = {
    id: 'key_1',
    surface: 'partner',
    caller: { kind: 'partner', partnerId: 'alpha' },
    budget: 10,
    policy: 'key',
    scopes: EVERY_SCOPE,
    owner: 'inn',
    isSuspended: false,
  };
  const VERDICT: Verdict = {
    policy: 'key',
    allowed: true,
    limit: 10,
    remaining: 9,
    resetSeconds: 60,
    windowSeconds: 60,
  };
  const log = createLog('silent');
  const closing: (() => unknown)[] = [];

  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  /** Counts are decided by the test; `asked` are the operations that reached a subgraph. */
  async function start({ hasPlenty = true, audits = false } = {}) {
    const asked: string[] = [];
    const transport: Transport = {
      execute({ query }) {
        asked.push(query);
        return { data: { memberByEmail: { email: 'a@example.com' }, endEnrollment: null } };
      },
      ready: async () => {},
      close: async () => {},
    };
    const caches = createCaches();
    const documents = createDocuments(caches, { documentCache: () => {} });
    const connections = createConnections({
      settings: readSettings({}, 'all'),
      inProcess: { gateway: transport, members: transport, standings: transport },
      log,
      metrics: createMetrics(),
    });
    closing.push(connections.close);
    const graphs = await serveGraphs(graphOf(readFileSync(SUPERGRAPH_FILE, 'utf8')), {
      connections,
      documents,
      caches,
      audits: audits,
    });
    const counts: ((allowed: boolean) => void)[] = [];
    const context = {
      ...createShared(),
      limiter: {
        hasPlenty: () => hasPlenty,
        consume: () =>
          new Promise<Verdict>((resolve) => {
            counts.push((allowed) => resolve({ ...VERDICT, allowed }));
          }),
        consumeRefusal: () => Promise.reject(new Error('the credential is valid')),
      },
      graphs,
      documents,
      usage: { count: () => {} },
      audit: audits ? { begin: () => [], record: () => {} } : undefined,
      log,
    };
    const send = (query: string, variables: Record<string, unknown>) => {
      const state = beginRequest(undefined);
      state.principal = CALLER;
      return operate(context, { requestId: 'r', address: '192.0.2.1', ...UNSHARED }, state, {
        query,
        variables,
      });
    };
    /** Sends it once, so that it is known. */
    const know = async (query: string, variables: Record<string, unknown>) => {
      const first = send(query, variables).catch(() => {});
      counts.shift()?.(true);
      await first;
      asked.length = 0;
    };
    return { asked, counts, send, know };
  }

  /** Long enough for whatever need not wait for the count. */
  async function ticks(): Promise<void> {
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
  }

  const EMAIL = { email: 'a@example.com' };

  test('a known read of a key with plenty left runs while its budget is counted', async () => {
    const { asked, counts, send, know } = await start();
    await know(READ, EMAIL);
    const response = send(READ, EMAIL);
    await ticks();
    expect(asked).toHaveLength(1);
    counts.shift()?.(true);
    expect(await response).toEqual({ data: { memberByEmail: EMAIL } });
    expect(asked).toHaveLength(1);
  });

  test('RATE_LIMITED if the budget turns out to be spent, even if the operation failed', async () => {
    const { counts, send, know } = await start();
    await know(READ, EMAIL);
    for (const variables of [EMAIL, { email: 7 }]) {
      const response = send(READ, variables);
      const refused = expect(response).rejects.toEqual(new ApiError('RATE_LIMITED'));
      await ticks();
      counts.shift()?.(false);
      await refused;
    }
  });

  test('an operation that fails at once still waits for the count', async () => {
    const { counts, send, know } = await start();
    await know(READ, EMAIL);
    const response = send(READ, { email: 7 });
    let settled = false;
    const end = response.catch(() => {
      settled = true;
    });
    await ticks();
    expect(settled).toBe(false);
    counts.shift()?.(true);
    await end;
    await expect(response).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  test.each([
    ['a document that was not prepared before', {}, READ, EMAIL, false],
    ['a mutation', {}, CHANGE, { id: 'x' }, true],
    ['a read of a key that has little left', { hasPlenty: false }, READ, EMAIL, true],
    ['a read that an audit log records', { audits: true }, READ, EMAIL, true],
  ])(
    '%s reaches no subgraph before the budget is known',
    async (_, options, query, variables, isKnown) => {
      const { asked, counts, send, know } = await start(options);
      if (isKnown) await know(query, variables);
      const response = send(query, variables).catch(() => {});
      await ticks();
      expect(asked).toEqual([]);
      counts.shift()?.(true);
      await response;
      expect(asked).toHaveLength(1);
    },
  );
});

// When the gateway gets requests, and what it says of its dependencies.

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
