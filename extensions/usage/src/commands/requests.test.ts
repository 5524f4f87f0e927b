// `loyalty requests` shows a partner's records, with the newest first.
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { emptyPlace } from '../../../../test/support/servers/databases.ts';
import { type Env, loyalty, loyaltyJson } from '../../../../test/support/service/loyalty.ts';
import { openUsageStore } from '../tables.ts';

describe('on the embedded store', () => {
  let env: Env;
  let release: () => unknown;

  beforeEach(async () => {
    const place = emptyPlace();
    const { mongodbUrl, dataDir } = place.settings;
    release = place.release;
    env = { DATA_DIR: dataDir, ...(mongodbUrl && { MONGODB_URL: mongodbUrl }) };
    await loyaltyJson(env, 'partners', 'create', 'acme', '--name', 'Acme');
  });

  afterEach(() => release());

  test('requests are found by ID, status and code, and earlier ones after them', async () => {
    expect(await loyalty(env, 'requests', 'acme')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'no such request is recorded\n',
    });
    const at = new Date();
    const ok = { status: 200, codes: [], cost: 1, durationMs: 2.5 };
    const records = Array.from({ length: 103 }, (_, n) => ({
      ...ok,
      time: at.getTime() - 5_000 + n,
      requestId: `r${n}`,
      keyId: 'key_a',
      operation: 'Look',
      ...(n === 7 && { status: 429, codes: ['RATE_LIMITED'], durationMs: 500.1 }),
      ...(n === 6 && { durationMs: 500 }),
      ...(n === 8 && { codes: ['MEMBER_NOT_FOUND'], clientId: 'app', keyId: undefined }),
    }));
    const hour = at.toISOString().slice(0, 13);
    const counts = { requests: 110, recorded: 103 };
    const store = await openUsageStore(readSettings(env, 'all'));
    await store.addRequests({
      at,
      hours: [{ partnerId: 'acme', hour, counts, budget: 0 }],
      chunks: [{ partnerId: 'acme', begun: at.getTime() - 5_000, writer: 'w1', records }],
    });
    await store.close();

    const limited = {
      ...{ time: new Date(at.getTime() - 4_993).toISOString(), requestId: 'r7', keyId: 'key_a' },
      ...{ operation: 'Look', status: 429, codes: ['RATE_LIMITED'], cost: 1, durationMs: 500.1 },
    };
    for (const found of [
      ['--status', '429'],
      ['--code', 'rate_limited'],
      ['--request-id', 'r7'],
      ['--slower-than', '500ms'],
      ['--slower-than', '2ms', '--status', '429'],
    ])
      expect(await loyaltyJson(env, 'requests', 'acme', ...found)).toEqual([limited]);
    expect(await loyaltyJson(env, 'requests', 'acme', '--request-id', 'r8')).toMatchObject([
      { clientId: 'app', codes: ['MEMBER_NOT_FOUND'] },
    ]);
    const before = new Date(at.getTime() - 4_997).toISOString();
    const all = await loyalty(env, 'requests', 'acme', '--json');
    expect(all.stdout.split('\n').slice(0, -1)).toHaveLength(100);
    expect(all.stderr).toBe(
      `earlier ones: --before ${before}\n7 of 110 requests in the last 7 days were only counted\n`,
    );
    const earlier = await loyaltyJson(env, 'requests', 'acme', '--before', before);
    expect(earlier.map(({ requestId }) => requestId)).toEqual(['r2', 'r1', 'r0']);
  });

  test('a partner that does not exist, and a status that is none, are refused', async () => {
    expect((await loyalty(env, 'requests', 'acm')).stderr).toBe(
      'loyalty: there is no partner "acm"\n',
    );
    expect((await loyalty(env, 'requests', 'acme', '--status', '42')).stderr).toMatch(
      /^loyalty: --status .*\n$/,
    );
    expect((await loyalty(env, 'requests', 'acme', '--slower-than', '0.5')).stderr).toBe(
      'loyalty: --slower-than must be a duration such as 500ms or 2s\n',
    );
  });
});
