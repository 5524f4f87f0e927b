// The client in Chromium, on a page of another origin than the service's.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { startBrowser } from '../../test/support/servers/browser.ts';
import { type InProcessService, startInProcess } from '../../test/support/service/inprocess.ts';
import type * as Client from './index.ts';

const KEY = `pk_test_${'0'.repeat(36)}`;
const WORKER = `import { createPartnerClient } from '/client.js';
try { createPartnerClient({ url: 'http://127.0.0.1:1', key: '${KEY}' }); postMessage('none'); }
catch (error) { postMessage(String(error)); }`;
const PAGE = `<!doctype html><title>A shop</title><script type="module">
import * as loyalty from '/client.js';
globalThis.loyalty = loyalty;
</script>`;

/** The global scope of the page. */
type Scope = { loyalty: typeof Client };

let pages: Server;
let service: InProcessService;
let browser: Browser;
let page: Page;
let requests: string[];
/** What a page runs has only its arguments. */
let given: { url: string; token: string };

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'index.ts')],
    bundle: true,
    format: 'esm',
    write: false,
  });
  const scripts: Record<string, string> = {
    '/client.js': outputFiles[0]?.text ?? '',
    '/worker.js': WORKER,
  };
  pages = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', url.endsWith('.js') ? 'text/javascript' : 'text/html');
    response.end(scripts[url] ?? PAGE);
  }).listen(0, '127.0.0.1');
  await once(pages, 'listening');
  // Cast: a server that listens on a port has an address with a port.
  const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  service = await startInProcess({ env: { CORS_ORIGINS: origin } });
  browser = await startBrowser();
  page = await browser.newPage();
  requests = [];
  page.on('request', (request) => void requests.push(request.url()));
  await page.goto(origin);
  await page.waitForFunction('globalThis.loyalty');
  given = { url: `${service.url}/graphql`, token: await service.provider.issue('m-both') };
});
afterAll(async () => {
  await browser.close();
  await service.close();
  pages.closeAllConnections();
  pages.close();
});

test('a member reads the own profile, activities and budget', async () => {
  const read = await page.evaluate(async ({ url, token }) => {
    const { loyalty } = globalThis as unknown as Scope;
    const client = loyalty.createMemberClient({ url, token: async () => token });
    const profile = await client.memberProfile({ id: 'm-both' });
    const points: number[] = [];
    for await (const activity of client.activities('m-both', { pageSize: 1 }))
      points.push(activity.points);
    return { profile, points, limits: client.limits };
  }, given);
  expect(read).toMatchObject({
    profile: { email: 'Both@Example.com', standings: [{ partnerId: 'alpha' }, {}] },
    limits: { limit: 120 },
  });
  expect(read.points.sort()).toEqual([-50, 300, 700]);
});

test('errors have their codes, and an abort its reason', async () => {
  const codes = await page.evaluate(async ({ url, token }) => {
    const { createMemberClient, isCallError } = (globalThis as unknown as Scope).loyalty;
    const reason = (error: unknown) => (isCallError(error) ? error.code : String(error));
    const id = 'm-both';
    const calls = [
      createMemberClient({ url, token: 'a.b.c' }).memberProfile({ id }),
      createMemberClient({ url, token }).requestEmailChange({ email: 'x' }),
      createMemberClient({ url: 'http://127.0.0.1:1', token, maxRetries: 0 }).memberProfile({ id }),
      createMemberClient({ url, token }).memberProfile({ id }, { signal: AbortSignal.abort('no') }),
    ];
    return Promise.all(calls.map((call) => call.then(() => 'none', reason)));
  }, given);
  expect(codes).toEqual(['UNAUTHENTICATED', 'BAD_USER_INPUT', 'NETWORK_ERROR', 'no']);
});

test('webhooks are verified', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body = '{"type":"TEST","timestamp":"2026-11-25T12:00:00.000Z","data":{}}';
  const now = new Date();
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': `${Math.floor(now.getTime() / 1_000)}`,
    'webhook-signature': new Webhook(secret).sign('evt_1', now, body),
  };
  const read = await page.evaluate(
    async ({ body, headers, secret }) => {
      const { verifyWebhook } = (globalThis as unknown as Scope).loyalty;
      const bodies = [body, new TextEncoder().encode(body), `${body} `];
      const verified = bodies.map((each) => verifyWebhook(each, headers, secret));
      return Promise.all(verified.map((each) => each.then(({ type }) => type, String)));
    },
    { body, headers, secret },
  );
  const refusal = 'WebhookError: the webhook is not signed with this secret';
  expect(read).toEqual(['TEST', 'TEST', refusal]);
});

test('a partner key is refused, in a page and in a worker, before anything is sent', async () => {
  requests.length = 0;
  const inPage = await page.evaluate((key) => {
    try {
      (globalThis as unknown as Scope).loyalty.createPartnerClient({
        url: 'http://127.0.0.1:1',
        key,
      });
      return 'none';
    } catch (error) {
      return String(error);
    }
  }, KEY);
  const inWorker = await page.evaluate(`new Promise((resolve) => {
    const worker = new Worker('/worker.js', { type: 'module' });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve(message);
  })`);
  for (const refusal of [inPage, inWorker]) expect(refusal).toMatch(/must not be in a browser/);
  expect(requests.filter((url) => !url.endsWith('.js'))).toEqual([]);
});
