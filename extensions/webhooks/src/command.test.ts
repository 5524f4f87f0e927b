// `loyalty webhooks`: its output, its refusals, and what a receiver gets.

import { openStandingsStore, type StandingsStore } from '@partner-loyalty/standings';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { type Receiver, startReceiver } from '../../../test/support/servers/receiver.ts';
import { emptyStores } from '../../../test/support/service/emptystores.ts';
import { type Env, loyalty, loyaltyJson } from '../../../test/support/service/loyalty.ts';

const PUBLIC = { SANDBOX_URL: 'https://sandbox.example' };
const URL = 'https://hooks.example/a';
const ALL = [
  ...['MEMBER_ENROLLED', 'ENROLLMENT_ENDED', 'MEMBER_UPDATED', 'EXTERNAL_ID_CHANGED'],
  ...['MEMBER_ERASED', 'MEMBER_MERGED', 'POINTS_CHANGED', 'TIER_CHANGED', 'YEAR_ENDED'],
  'PROGRAM_CHANGED',
];

describe('webhooks', () => {
  let env: Env;
  let remove: () => unknown;
  beforeEach(async () => {
    ({ env, remove } = emptyStores());
    await loyaltyJson(env, 'partners', 'create', 'blue', '--name', 'Blue');
  });
  afterEach(() => remove());

  const run = (...args: string[]) => loyaltyJson(env, 'webhooks', ...args);
  const refused = async (from: Env, ...args: string[]) => {
    const { code, stdout, stderr } = await loyalty(from, 'webhooks', ...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    return stderr;
  };
  const create = async (...options: string[]) => {
    const [made] = await run('create', 'blue', '--url', URL, ...options);
    return made as { webhookId: string; secret: string };
  };
  const inStore = async <T>(work: (store: StandingsStore) => Promise<T> | T): Promise<T> => {
    const store = await openStandingsStore({
      environment: 'sandbox',
      dataDir: env.DATA_DIR ?? '',
      ...(env.MONGODB_URL !== undefined && { mongodbUrl: env.MONGODB_URL }),
    });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };

  test('an endpoint is created, its secret printed once, and listed', async () => {
    const [made] = await run('create', 'blue', '--url', URL, '--types', 'TIER_CHANGED,YEAR_ENDED');
    const endpoint = {
      webhookId: expect.stringMatching(/^wh_[\w-]{16}$/),
      partnerId: 'blue',
      url: URL,
      types: ['TIER_CHANGED', 'YEAR_ENDED'],
      state: 'active',
      createdAt: expect.any(String),
    };
    const listed = { ...endpoint, attempts: 0, waiting: 0 };
    const secret = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(made).toEqual({ ...endpoint, secret });
    const [other] = await run('create', 'blue', '--url', URL);
    expect(other).toMatchObject({ types: ALL });
    const { stdout } = await loyalty(env, 'webhooks', 'list', 'blue', '--json');
    expect(
      stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    ).toEqual([listed, { ...listed, types: ALL }]);
    expect(stdout).not.toContain('whsec_');
    const text = await loyalty(env, 'webhooks', 'create', 'blue', '--url', URL);
    expect([text.code, text.stderr]).toEqual([0, 'Save the secret now: it is not shown again.\n']);
  });

  test('an endpoint is disabled, enabled and removed', async () => {
    const { webhookId } = await create();
    expect(await run('disable', webhookId)).toMatchObject([
      { webhookId, url: URL, state: 'disabled', disabledBecause: 'COMMAND' },
    ]);
    expect(await refused(env, 'replay', webhookId, '--since', '1h')).toBe(
      `loyalty: webhook ${webhookId} is disabled: loyalty webhooks enable ${webhookId}\n`,
    );
    expect(await run('enable', webhookId)).toMatchObject([{ webhookId, state: 'active' }]);
    expect(await run('remove', webhookId)).toEqual([{ webhookId, state: 'removed' }]);
    const { stdout, stderr } = await loyalty(env, 'webhooks', 'list', 'blue');
    expect([stdout, stderr]).toEqual([
      '',
      'partner blue has no webhooks: loyalty webhooks create blue\n',
    ]);
  });

  test('an endpoint is changed, what is left out stays, and one event is sent again by its ID', async () => {
    const { webhookId } = await create('--types', 'TIER_CHANGED');
    const url = 'https://hooks.example/b';
    expect(await run('update', webhookId, '--url', url)).toMatchObject([
      { webhookId, url, types: ['TIER_CHANGED'] },
    ]);
    expect(await run('update', webhookId, '--types', 'YEAR_ENDED')).toMatchObject([
      { url, types: ['YEAR_ENDED'] },
    ]);
    expect(await run('update', webhookId, '--all-types')).toMatchObject([{ url, types: ALL }]);
    expect(await refused(env, 'update', webhookId)).toContain('there is nothing to change');
    const unsafe = ['update', webhookId, '--url', 'https://user:word@hooks.example/'];
    expect(await refused({ ...env, ...PUBLIC }, ...unsafe)).toBe(
      'loyalty: --url must not contain a user name or a password\n',
    );
    for (let i = 1; i < 5; i += 1) await create();
    expect(await refused(env, 'create', 'blue', '--url', URL)).toBe(
      'loyalty: partner blue has 5 endpoints, which is the most\n',
    );
    expect(await refused(env, 'replay', webhookId)).toContain('either --since or --event');
    expect(await refused(env, 'replay', webhookId, '--event', 'e')).toBe(
      'loyalty: there is no event to send again "e"\n',
    );
  });

  test('those of a suspended partner are disabled, and stay so until they are enabled', async () => {
    const [mine, other] = [await create(), await create()];
    await run('disable', other.webhookId);
    const suspended = await loyalty(env, 'partners', 'suspend', 'blue');
    expect(suspended.stderr).toBe(`Disabled webhooks: ${mine.webhookId}\n`);
    expect(await run('list', 'blue')).toMatchObject([
      { state: 'disabled', disabledBecause: 'SUSPENDED' },
      { state: 'disabled', disabledBecause: 'COMMAND' },
    ]);
    const fault = 'loyalty: partner blue is suspended: loyalty partners resume blue\n';
    expect(await refused(env, 'enable', mine.webhookId)).toBe(fault);
    expect(await refused(env, 'create', 'blue', '--url', URL)).toBe(fault);
    const again = await loyalty(env, 'partners', 'suspend', 'blue');
    expect([again.code, again.stderr]).toEqual([0, '']);
    const resumed = await loyalty(env, 'partners', 'resume', 'blue');
    expect(resumed.stderr).toBe(
      `Webhooks stay disabled: ${mine.webhookId}. To send events again: loyalty webhooks enable ` +
        'ID, then loyalty webhooks replay ID --since TIME\n',
    );
    expect(await run('enable', mine.webhookId)).toMatchObject([{ state: 'active' }]);
  });

  test('list and deliveries say what was sent, how an endpoint fails, and each attempt of a message', async () => {
    const { webhookId } = await create();
    const { stderr } = await loyalty(env, 'webhooks', 'deliveries', webhookId);
    expect(stderr).toBe(`nothing was sent to webhook ${webhookId} yet\n`);
    const at = Date.now();
    const one = { type: 'TIER_CHANGED', attempts: 1, durationMs: 7 };
    const history = [
      { at: 1, durationMs: 7, status: 500, answer: 'down' },
      { at: 2, durationMs: 7, status: 204 },
    ];
    const failing = { failingSince: 1_000, failures: 12, lastReason: 'TIMEOUT', waiting: 2 };
    await inStore(async ({ webhooks }) => {
      await webhooks.logs.put({
        webhookId,
        delivered: [{ ...one, id: 'd', at, status: 204, history }],
        failed: [{ ...one, id: 'f', at: at + 1, reason: 'TIMEOUT' }],
      });
      await webhooks.endpoints.update(webhookId, (row) => row && { ...row, ...failing });
    });
    const failingSince = '1970-01-01T00:00:01.000Z';
    const shown = { webhookId, state: 'failing', failingSince, attempts: 12, waiting: 2 };
    expect(await run('list', 'blue')).toMatchObject([{ ...shown, lastReason: 'TIMEOUT' }]);
    const delivered = { ...one, id: 'd', outcome: 'delivered', status: 204 };
    expect(await run('deliveries', webhookId)).toEqual([
      { ...shown, lastReason: 'TIMEOUT' },
      { ...one, id: 'f', outcome: 'failed', reason: 'TIMEOUT', at: new Date(at + 1).toISOString() },
      { ...delivered, at: new Date(at).toISOString() },
    ]);
    const { stdout } = await loyalty(env, 'webhooks', 'deliveries', webhookId, '--event', 'd');
    expect(stdout).toMatch(/^1970-01-01 00:00:00 UTC +7 +500 +down$/m);
    const times = history.map((each) => ({ ...each, at: new Date(each.at).toISOString() }));
    expect(await run('deliveries', webhookId, '--event', 'd')).toMatchObject([{ history: times }]);
    await expect(run('deliveries', webhookId, '--event', 'e')).rejects.toThrow('no message');
  });

  test('replay sets the place back to a time, by a duration or an instant', async () => {
    const { webhookId } = await create();
    const at = new Date(Date.now() - 60_000).toISOString();
    expect(await run('replay', webhookId, '--since', at)).toEqual([{ webhookId, since: at }]);
    expect(await run('replay', webhookId, '--since', '2h')).toMatchObject([{ webhookId }]);
    const replay = { after: 0, to: 9, startedAt: 0 };
    await inStore((store) =>
      store.webhooks.endpoints.update(webhookId, (row) => row && { ...row, replay }),
    );
    expect(await run('list', 'blue')).toMatchObject([
      { replay: { done: 0, total: 9, startedAt: '1970-01-01T00:00:00.000Z' } },
    ]);
    expect(await refused(env, 'replay', webhookId, '--since', '2h')).toBe(
      `loyalty: webhook ${webhookId} is sending events again already\n`,
    );
  });

  test('wrong arguments are refused', async () => {
    const blue = ['create', 'blue', '--url', URL];
    expect(await refused(env, ...blue, '--types', 'TIER_CHANGED,TEST')).toMatch(
      /^loyalty: --types must be a list of MEMBER_ENROLLED, .*\n$/,
    );
    expect(await refused(env, ...blue, '--types', ',')).toBe('loyalty: --types must name a type\n');
    expect(await refused(env, 'create', 'blue')).toContain('--url');
    for (const args of [['create', '--url', URL], ['list']])
      expect(await refused(env, ...args, 'amber')).toBe('loyalty: there is no partner "amber"\n');
    for (const command of ['rotate-secret', 'test', 'deliveries', 'disable', 'enable', 'remove'])
      expect(await refused(env, command, 'wh_1')).toBe('loyalty: there is no webhook "wh_1"\n');
    expect(await refused(env, 'replay', 'wh_1', '--since', 'soon')).toContain('--since must be');
  });

  test('in production, secrets are encrypted, and without KEY_ENCRYPTION_KEY there are none', async () => {
    const folder = temporaryFolder();
    const production = { DATA_DIR: folder.path, ENVIRONMENT: 'production' };
    const key = { KEY_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') };
    await loyaltyJson(production, 'partners', 'create', 'blue', '--name', 'Blue');
    const args = ['create', 'blue', '--url', URL];
    expect(await refused(production, ...args)).toBe(
      'loyalty: KEY_ENCRYPTION_KEY must be set in production\n',
    );
    const [made] = await loyaltyJson({ ...production, ...key }, 'webhooks', ...args);
    const store = await openStandingsStore({ environment: 'production', dataDir: folder.path });
    const stored = JSON.stringify(await store.webhooks.endpoints.select(() => true));
    await store.close();
    expect(stored).toContain('"sealed":"eyJ');
    expect(stored).not.toContain(String(made?.secret).slice(6));
    const { webhookId } = made as { webhookId: string };
    expect(await refused(production, 'rotate-secret', webhookId)).toContain('KEY_ENCRYPTION_KEY');
    folder.remove();
  });

  describe('with a receiver', () => {
    let receiver: Receiver;
    let url: string;
    beforeEach(async () => {
      receiver = await startReceiver(() => 200);
      url = `${receiver.url}/hooks`;
    });
    afterEach(() => receiver.close());

    test('a test says whether it was accepted, by its exit code too', async () => {
      const [made] = await run('create', 'blue', '--url', url);
      const webhookId = String(made?.webhookId);
      const [sent] = await run('test', webhookId);
      const delivered = { outcome: 'delivered', status: 200, durationMs: expect.any(Number) };
      expect(sent).toEqual({ webhookId, id: expect.stringMatching(/^test_/), ...delivered });
      await run('rotate-secret', webhookId);
      receiver.respond = () => 500;
      const { code, stdout, stderr } = await loyalty(env, 'webhooks', 'test', webhookId, '--json');
      expect(JSON.parse(stdout)).toMatchObject({
        outcome: 'failed',
        status: 500,
        reason: 'STATUS',
      });
      const line = `loyalty: the message was not delivered to webhook ${webhookId}\n`;
      expect([code, stderr]).toEqual([1, line]);
      const { 'webhook-signature': signatures } = receiver.received[1]?.headers ?? {};
      expect(`${signatures}`.split(' ')).toHaveLength(2);
      const off = await loyalty({ ...env, ...PUBLIC }, 'webhooks', 'test', webhookId, '--json');
      expect(JSON.parse(off.stdout)).toMatchObject({ outcome: 'failed', reason: 'ADDRESS' });
    });
  });
});
