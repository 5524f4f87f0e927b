// The guides, followed as a new user does: what they show runs and prints what they say.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { issueKey, KEY_SCOPES, openKeyStore } from '@partner-loyalty/gateway';
import { parseSync } from '@swc/core';
import { buildSchema, parse, validate } from 'graphql';
import type { Browser, Page } from 'playwright-core';
import { GUIDES } from '../../extensions/site/src/docs/paths.ts';
import {
  type Block,
  commandOf,
  guideBlocks,
  masked,
  printedBy,
  savedAs,
} from '../support/cases/guides.ts';
import { type Folder, temporaryFolder } from '../support/folder.ts';
import { startBrowser } from '../support/servers/browser.ts';
import { EXAMPLES } from '../support/servers/examples.ts';
import { freePort, run, type ServerProcess, startProcess } from '../support/servers/process.ts';
import { type Env, loyaltyJson } from '../support/service/loyalty.ts';
import { type Service, startService } from '../support/service/npmstart.ts';
import { until } from '../support/until.ts';

const ROOT = join(EXAMPLES, '..');
const WEB = readFileSync(join(ROOT, 'docs/callers/guides/sign-in-web.md'), 'utf8');
const MOBILE = readFileSync(join(ROOT, 'docs/callers/guides/sign-in-mobile.md'), 'utf8');
/** Moves the clock of a program 11 minutes ahead at each SIGUSR2: longer than a token is valid. */
const CLOCK = `data:text/javascript,
  const { now } = Date;
  let aheadMs = 0;
  Date.now = () => now() + aheadMs;
  process.on('SIGUSR2', () => { aheadMs += 660000; console.log('ahead', aheadMs); });`;

let folder: Folder;
let service: Service;
let issuer: string;
let browser: Browser;
let page: Page;
let started: ServerProcess[];
let servers: Server[];

beforeAll(async () => {
  folder = temporaryFolder();
  const port = `${await freePort()}`;
  issuer = `http://localhost:${port}`;
  [service, browser] = await Promise.all([
    startService({ PORT: port, DATA_DIR: folder.path }, false),
    startBrowser(),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await service?.kill();
  folder?.remove();
});
beforeEach(async () => {
  started = [];
  servers = [];
  page = await (await browser.newContext()).newPage();
});
afterEach(async () => {
  await page.context().close();
  for (const each of started) await each.stop();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** Divides the waits of programs by 20, but not their timeouts. */
const FAST = {
  'fast.mjs': `import promises from 'node:timers/promises';
    import { syncBuiltinESMExports } from 'node:module';
    const { setTimeout: sleep } = promises;
    promises.setTimeout = (ms, ...others) => sleep(ms / 20, ...others);
    syncBuiltinESMExports();`,
  'sitecustomize.py': 'import time\nsleep = time.sleep\ntime.sleep = lambda s: sleep(s / 20)\n',
};

/** Runs blocks in a folder of their own, with a key whose budget nobody else spends. */
async function startReader(guide: string) {
  const home = join(folder.path, 'readers', guide);
  mkdirSync(home, { recursive: true });
  const save = (name: string, text: string) => writeFileSync(join(home, name), text);
  for (const [name, text] of Object.entries(FAST)) save(name, text);
  const store = await openKeyStore({ dataDir: folder.path, environment: 'sandbox' });
  const { key, record } = issueKey('sandbox', 'demo-hotels', new Date(), { scopes: KEY_SCOPES });
  await store.createKey(record);
  await store.close();
  const env = [
    `PARTNER_LOYALTY_URL=${service.endpoint}`,
    `PARTNER_LOYALTY_KEY=${key}`,
    `PYTHONPATH=${home}`,
    `NODE_OPTIONS=--import ${join(home, 'fast.mjs')}`,
  ];
  const paste = (text: string) =>
    run('env', ['-C', home, ...env, 'bash', '-c', `{ ${text}\n} 2>&1`]);
  return { home, save, paste };
}

describe.each(GUIDES)('what %s shows', (guide) => {
  test('is valid: operations, JSON and JavaScript', () => {
    const surface = guide.startsWith('sign-in') ? 'member' : 'partner';
    const schema = buildSchema(
      readFileSync(join(ROOT, `gateway/surface.${surface}.graphql`), 'utf8'),
    );
    for (const block of guideBlocks(guide)) {
      const { language, text } = block;
      if (language === 'graphql') expect(validate(schema, parse(text))).toEqual([]);
      if (language === 'json') JSON.parse(text);
      // Parts of programs are those of the examples, as another test has it.
      if (language === 'js' && savedAs(block))
        parseSync(text, { syntax: 'ecmascript', target: 'es2022' });
    }
  });

  const isRun = ({ language, text }: Block) => language === 'sh' && !text.startsWith('export');
  const blocks = guideBlocks(guide);
  if (!blocks.some(isRun)) return;

  test('prints what it says', async () => {
    const { save, paste } = await startReader(guide);
    const port = await freePort();
    for (const [index, block] of blocks.entries()) {
      const text = block.text
        .replaceAll(/\b4050\b/g, `${port}`)
        .replace(/(?<=timeout (?:-s KILL )?|DEADLINE_SECONDS=)\d/, '0.3');
      const file = savedAs(block);
      if (file !== undefined) save(file, text);
      const command = isRun(block) ? text : file && commandOf(block);
      if (command === undefined) continue;
      const printed = await paste(command);
      const next = blocks[index + 1];
      if (next?.language === 'json' && isRun(block))
        expect(masked(printed)).toEqual(masked(next.text));
      else if (next?.language === 'text') expect(printed.replace(/ $/gm, '')).toBe(next.text);
      else if (!/FAULT/.test(text)) expect(printed).not.toContain('"errors"');
      const [, whenItFails] = /\|\| echo "(failed[^"]*|stopped)"/.exec(text) ?? [];
      for (const said of [...printedBy(block), whenItFails ?? '']) expect(printed).toContain(said);
    }
  });
});

test('the receiver of events-and-webhooks takes a test, and refuses what is forged', async () => {
  const blocks = guideBlocks('events-and-webhooks');
  const { home, save } = await startReader('receiver');
  symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'));
  const url = `http://localhost:${await freePort()}/webhooks`;
  const program = blocks.find((each) => savedAs(each) === 'receive.mjs')?.text ?? '';
  save('receive.mjs', program.replaceAll('4030', new URL(url).port));
  const shown = blocks.find(({ text }) => text.startsWith('loyalty webhooks create'))?.text ?? '';
  const [, ...args] = shown
    .trim()
    .replace(/https:\S+/, url)
    .split(' ');
  const env = { DATA_DIR: folder.path };
  // Cast: what the command prints.
  const [endpoint] = (await loyaltyJson(env, ...args)) as { webhookId: string; secret: string }[];
  const receiver = await startProcess({
    command: process.execPath,
    args: [join(home, 'receive.mjs')],
    env: { WEBHOOK_SECRET: endpoint?.secret ?? '' },
  });
  started.push(receiver);
  await receiver.wrote(/http:/);
  await loyaltyJson(env, 'webhooks', 'test', endpoint?.webhookId ?? '');
  await receiver.wrote(/^TEST/m);
  expect((await fetch(url, { method: 'POST', body: '{"type":"TEST"}' })).status).toBe(400);
});

/** Runs the guide's command that registers the app with this option, on another port. */
async function register(guide: string, option: string, port = 0) {
  const commands = [...guide.matchAll(/^npx --no-install loyalty (apps create(?:.*\\\n)*.*)$/gm)];
  const [, command = ''] = commands.find(([text]) => text.includes(option)) ?? [];
  const args = command.replaceAll('\\\n', '').replaceAll(/localhost:\d+/g, `localhost:${port}`);
  const [app] = await loyaltyJson({ DATA_DIR: folder.path }, ...args.trim().split(/ +/));
  // Cast: what the command prints.
  return app as { clientId: string; clientSecret: string };
}

const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

/** From the page that asks for the address to the one that the app answers with. */
async function signIn(guide: string): Promise<void> {
  const { paste } = await startReader('sign-in');
  const run = (word: string) =>
    paste(guideBlocks(guide).find(({ text }) => text.includes(word))?.text ?? '');
  await run('enrollMember');
  // Cast: what the service answers.
  const subjects = async () =>
    (JSON.parse(await run('sandboxMails')) as Mails).data.sandboxMails.map(
      ({ subject }) => subject,
    );
  const before = await subjects();
  await page.locator('input[type=email]').fill('ada@inbox.test');
  await press('Continue');
  const [subject = ''] = await until(async () => {
    const all = await subjects();
    return all.length > before.length && all;
  });
  const [code = 'no code'] = /\b[B-Z]{4}-[B-Z]{4}\b/.exec(subject) ?? [];
  await page.locator('input[autocomplete=one-time-code]').fill(code);
  await press('Sign in');
  await press('Agree');
}

type Mails = { data: { sandboxMails: { subject: string }[] } };

async function start(file: string, env: Env, options: string[] = [], args: string[] = []) {
  const program = await startProcess({
    command: process.execPath,
    args: [...options, join(EXAMPLES, file), ...args],
    env: { PARTNER_LOYALTY_ISSUER: issuer, ...env },
  });
  started.push(program);
  return program;
}

const shown = () => page.locator('body').innerText();

test('a web app: signing in, parallel requests that refresh, revoking, cancelling, signing out', async () => {
  const port = await freePort();
  const { clientId, clientSecret } = await register(WEB, '--confidential', port);
  const env = { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, PORT: `${port}` };
  const app = await start('node/signin.web.mjs', env, ['--import', CLOCK]);
  const [home] = await app.wrote(/http:\S+/);
  await page.goto(home);
  await page.getByText('Sign in').click();
  await signIn('sign-in-web');
  await page.waitForURL(home);
  expect(await shown()).toMatch(/^Hello Ada\s+Blue, 0 points\s+Sign out$/);

  for (const ahead of [660_000, 1_320_000]) {
    process.kill(app.pid, 'SIGUSR2');
    await app.wrote(new RegExp(`ahead ${ahead}`));
    const answers = await page.evaluate<string[]>(
      `Promise.all([1, 2, 3, 4].map((one) => fetch('/?' + one).then((answer) => answer.text())))`,
    );
    expect(answers.filter((answer) => !answer.includes('Hello Ada'))).toEqual([]);
  }

  await page.goto(`${issuer}/account`);
  await press('Revoke');
  await page.getByRole('status').waitFor();
  await until(async () => {
    await page.goto(home);
    return (await shown()) === 'Sign in';
  });
  for (const answer of ['Cancel', 'Agree']) {
    await page.getByText('Sign in').click();
    await press(answer);
    await page.waitForURL(home);
  }

  await press('Sign out');
  await page.waitForURL((url) => url.href.startsWith(`${issuer}/oauth/end-session`));
  await press('Sign out');
  await page.waitForURL(home);
  expect(await shown()).toBe('Sign in');
  await page.goto(`${issuer}/account`);
  expect(page.url()).toBe(`${issuer}/sign-in`);
});

test('a web app: a code that another sign-in led to signs nobody in', async () => {
  const port = await freePort();
  const { clientId, clientSecret } = await register(WEB, '--confidential', port);
  const env = { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, PORT: `${port}` };
  const app = await start('node/signin.web.mjs', env);
  const [home] = await app.wrote(/http:\S+/);
  await page.goto(`${home}callback?code=another&state=another`);
  expect([page.url(), await shown()]).toEqual([home, 'Sign in']);
  await page.getByText('Sign in').click();
  await page.locator('input[type=email]').waitFor();
  await page.goto(`${home}callback?code=another&state=another`);
  expect(await shown()).toContain('That did not work');
  await page.getByText('Try again').click();
  expect(await shown()).toBe('Sign in');
});

test('an app without a server: signing in, refreshing, signing out', async () => {
  const port = await freePort();
  const { clientId } = await register(WEB, '--public', port);
  const files: Record<string, string> = {
    '/signin.html': readFileSync(join(EXAMPLES, 'browser/signin.html'), 'utf8')
      .replace('app-…', clientId)
      .replace('http://localhost:4000', issuer),
  };
  const server = createServer(({ url = '' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    response.setHeader('content-type', pathname.endsWith('.js') ? 'text/javascript' : 'text/html');
    response.end(files[pathname] ?? readFileSync(join(ROOT, pathname)));
  }).listen(port, 'localhost');
  servers.push(server);
  await once(server, 'listening');
  const home = `http://localhost:${port}/signin.html`;
  // Gateways know the origins of new apps within 5 seconds.
  await until(async () => {
    const headers = { origin: `http://localhost:${port}` };
    const found = await fetch(`${issuer}/.well-known/openid-configuration`, { headers });
    return found.headers.has('access-control-allow-origin');
  });
  await page.goto(home);
  await press('Sign in');
  await signIn('sign-in-web');
  await page.waitForURL(home);
  await page.getByText('"tier":"Blue","points":0').waitFor();

  const token = () =>
    page.evaluate<string>('JSON.parse(Object.values(sessionStorage)[0]).access_token');
  const before = await token();
  await page.evaluate(`{
    const [[name, user]] = Object.entries(sessionStorage);
    sessionStorage.setItem(name, JSON.stringify({ ...JSON.parse(user), expires_at: 1 }));
  }`);
  await page.reload();
  await page.getByText('"tier":"Blue","points":0').waitFor();
  expect(await token()).not.toBe(before);

  await press('Sign out');
  await page.waitForURL((url) => url.href.startsWith(issuer));
  await press('Sign out');
  await page.waitForURL(home);
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
});

test('a program on the device: signing in, later without the browser, signing out', async () => {
  const { clientId } = await register(MOBILE, '--public');
  const file = join(folder.path, 'refresh-token');
  const env = { CLIENT_ID: clientId, TOKEN_FILE: file };
  const first = await start('node/signin.native.mjs', env);
  const [url] = await first.wrote(/http:\S+/);
  const callback = new URL(url).searchParams.get('redirect_uri') ?? '';
  // Another program on the device finds the port.
  expect((await fetch(`${callback}?code=stolen&state=guessed`)).status).toBe(404);
  await page.goto(url);
  await signIn('sign-in-mobile');
  await page.getByText('You can close this page.').waitFor();
  await first.ended;
  expect(first.output()).toContain('"tier": "Blue"');
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const old = readFileSync(file, 'utf8');
  const second = await start('node/signin.native.mjs', env);
  await second.ended;
  expect(second.output()).toMatch(/^\{[\s\S]*"tier": "Blue"/);
  expect(readFileSync(file, 'utf8')).not.toBe(old);

  const end = await start('node/signin.native.mjs', env, [], ['sign-out']);
  await end.ended;
  expect(end.output()).toBe('Signed out.\n');
  const ended = await start('node/signin.native.mjs', env);
  await ended.wrote(/^Open in your browser/);
});

test('an app with a scheme of its own gets the code from the browser', async () => {
  const { clientId } = await register(MOBILE, '--public');
  await page.goto(
    `${issuer}/oauth/authorize?${new URLSearchParams({
      client_id: clientId,
      redirect_uri: 'com.example.rooms:/callback',
      response_type: 'code',
      scope: 'openid',
      code_challenge: createHash('sha256').update('verifier').digest('base64url'),
      code_challenge_method: 'S256',
    })}`,
  );
  // No program of this machine has the scheme.
  const [request] = await Promise.all([
    page.waitForEvent('requestfailed'),
    signIn('sign-in-mobile'),
  ]);
  expect(request.url()).toMatch(/^com\.example\.rooms:\/callback\?code=[\w-]+&iss=/);
});

test('a program on the device whose stored token was used already signs in again', async () => {
  const { clientId } = await register(MOBILE, '--public');
  const file = join(folder.path, 'used-token');
  writeFileSync(file, 'used');
  const program = await start('node/signin.native.mjs', { CLIENT_ID: clientId, TOKEN_FILE: file });
  await program.wrote(/^Open in your browser/);
});

test.each([
  ['sign-in-web', WEB],
  ['sign-in-mobile', MOBILE],
])('the JavaScript in %s is that of the examples it links to', (_, guide) => {
  const files = [...guide.matchAll(/\]\((?:\.\.\/)+(examples\/[^)]+)\)/g)];
  const sources = files.map(([, file = '']) => readFileSync(join(ROOT, file), 'utf8'));
  const blocks = [...guide.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  expect(blocks).not.toEqual([]);
  const others = blocks.filter((block) => !sources.some((source) => source.includes(block)));
  expect(others).toEqual([]);
});
