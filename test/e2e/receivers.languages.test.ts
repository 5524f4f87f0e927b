// The examples that receive webhooks: each webhook is worked once, and no forged one at all.
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { Webhook } from 'standardwebhooks';
import { type Folder, temporaryFolder } from '../support/folder.ts';
import { EXAMPLES } from '../support/servers/examples.ts';
import { type ServerProcess, startProcess } from '../support/servers/process.ts';
import { until } from '../support/until.ts';

const ROOT = join(EXAMPLES, '..');
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

let folder: Folder;
beforeAll(async () => {
  folder = temporaryFolder();
  const modules = join(folder.path, 'node_modules');
  mkdirSync(join(modules, '@partner-loyalty/client/dist'), { recursive: true });
  for (const name of ['express', 'fastify'])
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  copyFileSync(
    join(ROOT, 'client/package.json'),
    join(modules, '@partner-loyalty/client/package.json'),
  );
  await build({
    entryPoints: [join(ROOT, 'client/src/index.ts')],
    outfile: join(modules, '@partner-loyalty/client/dist/index.js'),
    bundle: true,
    format: 'esm',
  });
});
afterAll(() => folder.remove());

type Sent = { body?: string; headers?: Record<string, string> };

let ids = 0;
/** A request as the service sends it, with an ID that is new. */
function signed(memberId: string, { secret = SECRET, secondsAgo = 0 } = {}) {
  ids += 1;
  const id = `evt_${ids}`;
  const at = new Date(Date.now() - secondsAgo * 1_000);
  const timestamp = at.toISOString();
  const body = JSON.stringify({ type: 'MEMBER_UPDATED', timestamp, data: { memberId } });
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(at.getTime() / 1_000)}`,
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
  return { body, headers };
}

describe.each([
  ['Node', process.execPath, 'node/receive.mjs'],
  ['Express', process.execPath, 'node/receive.express.mjs'],
  ['Fastify', process.execPath, 'node/receive.fastify.mjs'],
  ['Python', 'python3', 'python/receive.py'],
])('%s', (_, command, file) => {
  let receiver: ServerProcess;
  let url: string;
  let script: string;
  beforeAll(async () => {
    // Where the packages are that it imports.
    script = join(folder.path, file.replace('/', '-'));
    copyFileSync(join(EXAMPLES, file), script);
    const env = { WEBHOOK_SECRET: SECRET, PORT: '0' };
    receiver = await startProcess({ command, args: [script], env });
    [url = ''] = await receiver.wrote(/http:\S+/);
  });
  afterAll(() => receiver.stop());

  const send = async ({ body, headers = {} }: Sent, path = '') =>
    (await fetch(`${url}${path}`, { method: 'POST', body: body ?? null, headers })).status;
  /** The members of the webhooks that it has worked, once those before have been. */
  async function worked(): Promise<string[]> {
    const last = `last-${ids}`;
    expect(await send(signed(last))).toBe(204);
    const read = () =>
      [...receiver.output().matchAll(/^MEMBER_UPDATED (.*)$/gm)].map(([, id = '']) => id);
    await until(() => read().includes(last));
    return read().filter((id) => !id.startsWith('last'));
  }

  test('a webhook that comes three times is worked once', async () => {
    const webhook = signed('once');
    expect(await Promise.all([webhook, webhook].map((each) => send(each)))).toEqual([204, 204]);
    expect(await send(webhook)).toBe(204);
    expect(await worked()).toEqual(['once']);
  });

  test('one that the old secret signed beside this one is worked', async () => {
    const webhook = signed('rotated');
    const at = new Date(Number(webhook.headers['webhook-timestamp']) * 1_000);
    const id = webhook.headers['webhook-id'] ?? '';
    const old = new Webhook(OTHER).sign(id, at, webhook.body);
    webhook.headers['webhook-signature'] = `${old} ${webhook.headers['webhook-signature']}`;
    expect(await send(webhook)).toBe(204);
    expect(await worked()).toContain('rotated');
  });

  test.each<[string, (webhook: ReturnType<typeof signed>) => Sent]>([
    ['a changed body', ({ body, headers }) => ({ body: body.replace('forged', 'other'), headers })],
    ['another secret', () => signed('forged', { secret: OTHER })],
    ['a replay after 5 minutes', () => signed('forged', { secondsAgo: 302 })],
    [
      'a replay with a new time',
      ({ body, headers }) => ({
        body,
        headers: { ...headers, 'webhook-timestamp': `${Math.floor(Date.now() / 1_000) - 5}` },
      }),
    ],
    ['no signature', ({ body }) => ({ body, headers: { 'content-type': 'application/json' } })],
    [
      'a signature that is none',
      ({ body, headers }) => ({
        body,
        headers: { ...headers, 'webhook-signature': 'v1, v1,é v2,A' },
      }),
    ],
  ])('400 for %s, and nothing is worked', async (_, change) => {
    expect(await send(change(signed('forged')))).toBe(400);
    expect((await worked()).filter((id) => !['once', 'rotated'].includes(id))).toEqual([]);
  });

  test('a body of 70 KiB is refused, and another path is a 404', async () => {
    const large = await send({ body: ' '.repeat(71_680) }).catch(() => 413);
    expect(large).toBe(413);
    expect(await send(signed('forged'), '/other')).toBe(404);
    expect(await worked()).not.toContain('forged');
  });

  test('without the secret it does not start, and says what is missing', async () => {
    const env = { WEBHOOK_SECRET: '', PORT: '0' };
    const started = await startProcess({ command, args: [script], env });
    await started.ended;
    expect(started.output()).toContain('set WEBHOOK_SECRET');
    expect(await started.stop()).toBe(1);
  });
});
