// The stored secrets of subgraphs of the graph store.
import { randomBytes } from 'node:crypto';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { startSubgraph } from '../../../test/support/graphs/graph.ts';
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import { until } from '../../../test/support/until.ts';
import { openGraphStore } from '../stores.ts';
import { createConnections } from './connections.ts';
import type { GraphStore } from './graph.ts';
import { dropOldSecret, type OpenSecrets, openSecrets, rotateSecret } from './secrets.ts';
import type { RegistryTables } from './tables.ts';

const SETTINGS = {
  environment: 'production',
  keyEncryptionKey: randomBytes(32).toString('base64'),
} as const;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const log = createLog('silent');

describe('the secret of a subgraph', () => {
  let store: GraphStore;
  let table: RegistryTables['secrets'];
  let release: () => unknown;
  let now = 0;
  beforeEach(async () => {
    const place = emptyPlace();
    release = place.release;
    store = await openGraphStore({ ...place.settings, environment: 'production' });
    table = (await store.tables()).secrets;
    now = Date.UTC(2030, 0, 1);
  });
  afterEach(async () => {
    await store.close();
    await release();
  });

  const rotate = async () => {
    const secret = await rotateSecret(table, SETTINGS, 'offers', now);
    if (secret === undefined) throw new Error('the settings have a key');
    return secret;
  };
  /** The secrets as a gateway has them after its next read. */
  const gateway = async () => {
    const secrets = openSecrets('offers', { store, settings: SETTINGS, log }, () => now);
    await secrets.read();
    return secrets;
  };
  const accept = async (secrets: OpenSecrets, secret: string) => {
    secrets.accepted(secret);
    await secrets.close();
    await secrets.read();
  };
  const order = ({ first, other }: OpenSecrets) => {
    const secret = first();
    return secret === undefined ? [] : [secret, other(secret)].filter((each) => each !== undefined);
  };
  const stored = async () => (await gateway().then(order)).sort();

  test('is made, and stored encrypted', async () => {
    expect(order(await gateway())).toEqual([]);
    const secret = await rotate();
    expect(secret).toMatch(/^ss_.{44}$/);
    expect(order(await gateway())).toEqual([secret]);
    expect(JSON.stringify(await table.select(() => true))).not.toContain(secret.slice(3, 20));
  });

  test('is refused in production without a key, and is none with another key', async () => {
    const settings = { environment: 'production' } as const;
    expect(await rotateSecret(table, settings, 'offers')).toBeUndefined();
    await rotate();
    for (const keyEncryptionKey of [undefined, randomBytes(32).toString('base64')]) {
      const reasons: unknown[] = [];
      const outage = ({ reason }: { reason?: unknown }) => void reasons.push(reason);
      const other = { environment: 'production', keyEncryptionKey } as const;
      const secrets = openSecrets('offers', { store, settings: other, log: { outage } });
      await secrets.read();
      expect([order(secrets), reasons]).toEqual([[], [expect.stringContaining('KEY_ENCRYPTION')]]);
    }
  });

  test('is replaced if no request was accepted with it yet, and else goes on beside the next', async () => {
    await rotate();
    const second = await rotate();
    expect(await stored()).toEqual([second]);
    await accept(await gateway(), second);
    await rotate();
    const fourth = await rotate();
    expect(await stored()).toEqual([second, fourth].sort());
  });

  test('that is in use stays, whichever of the two it is', async () => {
    const first = await rotate();
    await accept(await gateway(), first);
    const second = await rotate();
    now += MINUTE;
    await accept(await gateway(), second);
    const third = await rotate();
    expect(await stored()).toEqual([second, third].sort());
    now += MINUTE;
    await accept(await gateway(), third);
    now += MINUTE;
    // The subgraph went back.
    await accept(await gateway(), second);
    const fourth = await rotate();
    expect(await stored()).toEqual([second, fourth].sort());
  });

  test('is tried first if it was accepted last, and once a minute after the newer one', async () => {
    const old = await rotate();
    const running = await gateway();
    await accept(running, old);
    const fresh = await rotate();
    await running.read();
    expect(order(running)).toEqual([old, fresh]);
    now += MINUTE;
    // A subgraph that takes both would otherwise need the old one for ever.
    expect(order(running)).toEqual([fresh, old]);
    expect(order(running)).toEqual([old, fresh]);
    await accept(running, fresh);
    now += MINUTE;
    expect(order(running)).toEqual([fresh, old]);
    expect(order(await gateway())).toEqual([fresh, old]);
  });

  test('ends when no request has needed it for 24 hours, and the newer one is taken', async () => {
    const old = await rotate();
    const running = await gateway();
    await accept(running, old);
    now += 30 * 24 * HOUR;
    const fresh = await rotate();
    await running.read();
    now += HOUR;
    await accept(running, old);
    now += 25 * HOUR;
    expect(await stored()).toEqual([old, fresh].sort());
    await accept(running, old);
    now += 23 * HOUR;
    await accept(running, fresh);
    expect(await stored()).toEqual([old, fresh].sort());
    now += HOUR;
    await accept(running, fresh);
    expect(await stored()).toEqual([fresh]);
    expect(order(running)).toEqual([fresh]);
  });

  test('is noted as used about once a minute', async () => {
    const old = await rotate();
    const running = await gateway();
    await accept(running, old);
    await rotate();
    await running.read();
    const noted = async () => (await table.get('offers'))?.secrets[0]?.acceptedAt;
    const before = await noted();
    now += MINUTE - 1;
    await accept(running, old);
    expect(await noted()).toBe(before);
    now += 1;
    await accept(running, old);
    expect(await noted()).toBe(now);
  });

  test('is known to a gateway that runs, which serves the graph before there is one', async () => {
    const subgraph = await startSubgraph('type Query { a: Int }', { a: 7 });
    const env = { KEY_ENCRYPTION_KEY: SETTINGS.keyEncryptionKey, SUBGRAPH_HOSTS: '127.0.0.1' };
    const settings = readSettings({ ...env, SUBGRAPH_SECRET: 'x'.repeat(16) }, 'gateway');
    const metrics = createMetrics();
    const connections = createConnections({ settings, store, inProcess: {}, log, metrics });
    const entry = { name: 'offers', url: subgraph.url, batching: false, codes: [] };
    const transport = (await connections.open([entry])).get('offers')?.transport;
    const caller = { kind: 'service' } as const;
    const ask = () => transport?.execute({ query: '{ a }', caller, requestId: 'r' });
    expect((await ask())?.errors).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
    expect(subgraph.asked).toEqual([]);
    await rotate();
    await until(async () => (await ask())?.data?.a === 7);
    await connections.close();
    subgraph.close();
    // The first request was noted: the next rotation does not end what is in use.
    expect((await table.get('offers'))?.secrets[0]?.acceptedAt).toBeDefined();
  });

  test('is dropped by an operator, but never the only one', async () => {
    const old = await rotate();
    await accept(await gateway(), old);
    expect(await dropOldSecret(table, 'offers')).toBe(false);
    const fresh = await rotate();
    expect(await dropOldSecret(table, 'offers')).toBe(true);
    expect(await stored()).toEqual([fresh]);
    expect(await dropOldSecret(table, 'nobody')).toBe(false);
  });
});
