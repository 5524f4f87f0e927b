// The examples of calling the API run as users run them, against `npm start`, and bear a 429.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { guideBlocks, savedAs } from '../support/cases/guides.ts';
import { type Front, startFront } from '../support/client/front.ts';
import { type Folder, temporaryFolder } from '../support/folder.ts';
import { type Collection, runCollection, runHttpFile } from '../support/requests/postman.ts';
import { EXAMPLES } from '../support/servers/examples.ts';
import { run } from '../support/servers/process.ts';
import { loyaltyJson } from '../support/service/loyalty.ts';
import { type Service, startService } from '../support/service/npmstart.ts';
import { until } from '../support/until.ts';

const SPENT = {
  status: 429,
  headers: { 'content-type': 'application/json', 'retry-after': '1' },
  body: '{"errors":[{"message":"the budget is used up","extensions":{"code":"RATE_LIMITED"}}]}',
};
const AWAY = {
  status: 503,
  headers: { 'content-type': 'application/json', 'retry-after': '0' },
  body: '{"errors":[{"message":"away","extensions":{"code":"SERVICE_UNAVAILABLE"}}]}',
};
const LINK_TOKEN = /\/sign-in\?token=(ml_[\w-]+)/;

let folder: Folder;
let service: Service;
let front: Front;
let key: string;

beforeAll(async () => {
  folder = temporaryFolder();
  service = await startService({ DATA_DIR: folder.path });
  key = /pk_test_\w+/.exec(service.output())?.[0] ?? 'no key';
  front = await startFront(new URL(service.endpoint).origin);
});
afterAll(async () => {
  await front.close();
  await service.kill();
  folder.remove();
});
beforeEach(() => {
  // The first request of each example meets a spent budget.
  front.failures.splice(0, front.failures.length, SPENT);
});

/** The mails so far, oldest first. */
function mails(): string[] {
  const outbox = join(folder.path, 'outbox');
  if (!existsSync(outbox)) return [];
  const files = readdirSync(outbox).filter((name) => name.endsWith('.eml'));
  return files.sort().map((name) => readFileSync(join(outbox, name), 'utf8'));
}

/** The token of the first link that is mailed after the first `before` mails. */
async function mailedToken(before: number): Promise<string> {
  await until(() => mails().length > before);
  return LINK_TOKEN.exec(mails()[before] ?? '')?.[1] ?? 'no token';
}

type Script = {
  name: string;
  command: string;
  args: string[];
  /** What it prints, and what a run with the token of a link adds. */
  prints: RegExp[];
  signedIn: RegExp;
};

const PRINTS = [
  /^activities: \d+ in 2 pages$/m,
  /^found: demo-001 Gold 5200$/m,
  /^9800 more points to Platinum$/m,
  /^several: 5200 5200 not found$/m,
  /^not a member of ours: MEMBER_NOT_FOUND$/m,
  /^enrolled: true\nagain: false\nended$/m,
];
const SIGNED_IN = /^signed in: Demo Hotels Gold 5200$/m;
const SCRIPTS: Script[] = [
  {
    name: 'curl',
    command: join(EXAMPLES, 'curl/integrate.sh'),
    args: [],
    prints: [
      /"memberByEmail":\{"memberId":"demo-001","tier":"Gold","points":5200,/,
      /"nextTier":"Platinum","pointsToNextTier":9800,/,
      /\{"member":null\}\]/,
      /^not a member of ours: MEMBER_NOT_FOUND$/m,
      /"created":true[\s\S]+"created":false[\s\S]+"endEnrollment":\{/,
    ],
    signedIn: /"standings":\[\{"partnerName":"Demo Hotels","tier":"Gold","points":5200\}\]/,
  },
  {
    name: 'Node',
    command: process.execPath,
    args: ['node/integrate.mjs'],
    prints: PRINTS,
    signedIn: SIGNED_IN,
  },
  {
    name: 'Python',
    command: 'python3',
    args: ['python/integrate.py'],
    prints: PRINTS,
    signedIn: SIGNED_IN,
  },
];

/** Runs a script with these variables and PATH only. */
function start(
  { command, args }: Pick<Script, 'command' | 'args'>,
  variables: Record<string, string>,
) {
  const env = { PATH: process.env.PATH, ...variables };
  return promisify(execFile)(command, args, { cwd: EXAMPLES, env });
}

test.each(SCRIPTS)('$name: from a look-up to a member who is signed in', async (script) => {
  const env = { PARTNER_LOYALTY_URL: front.url, PARTNER_LOYALTY_KEY: key };
  const before = mails().length;
  front.failures.push(AWAY);
  const first = await start(script, env);
  expect(first.stderr).toMatch(
    /^the budget is spent: waiting [12] s\nthe service is unavailable: waiting [0-2] s\n$/,
  );
  const second = await start(script, { ...env, MAGIC_LINK_TOKEN: await mailedToken(before) });
  expect(second.stderr).toBe('');
  for (const { stdout } of [first, second])
    for (const printed of script.prints) expect(stdout).toMatch(printed);
  expect(second.stdout).toMatch(script.signedIn);
  expect(`${first.stdout}${second.stdout}`).not.toContain(key);
});

test.each(SCRIPTS)(
  '$name: what is missing, refused or away ends it with one line',
  async (script) => {
    await expect(start(script, {})).rejects.toMatchObject({
      stderr: expect.stringContaining('PARTNER_LOYALTY_KEY'),
    });
    front.failures.length = 0;
    const unknown = {
      PARTNER_LOYALTY_URL: front.url,
      PARTNER_LOYALTY_KEY: `pk_test_${'0'.repeat(36)}`,
    };
    await expect(start(script, unknown)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^.*UNAUTHENTICATED.*\n$/),
    });
    const away = { PARTNER_LOYALTY_URL: 'http://127.0.0.1:1/graphql', DEADLINE_SECONDS: '1' };
    await expect(start(script, { ...away, PARTNER_LOYALTY_KEY: key })).rejects.toMatchObject({
      stderr: expect.stringMatching(
        /^(the service does not answer: waiting \d s\n)*.*(127\.0\.0\.1:1\/graphql does not answer: |connect to ).*\n$/,
      ),
    });
  },
);

/** Waits pass at once, with the longest random part; at the end, a line has their sum. */
const CLOCKS = {
  'clock.mjs': `import promises from 'node:timers/promises';
    import { syncBuiltinESMExports } from 'node:module';
    const now = performance.now.bind(performance);
    let waitedMs = 0;
    performance.now = () => now() + waitedMs;
    promises.setTimeout = async (ms) => { waitedMs += ms; };
    Math.random = () => 0.999;
    process.on('exit', () => console.error('waited', Math.floor(waitedMs / 1000)));
    syncBuiltinESMExports();`,
  'sitecustomize.py': `import atexit, random, sys, time
now = time.monotonic
waits = []
time.sleep = waits.append
time.monotonic = lambda: now() + sum(waits)
random.uniform = lambda low, high: high
atexit.register(lambda: print("waited", int(sum(waits)), file=sys.stderr))
`,
  'activities.jsonl':
    '{"activityId":"night-1","memberId":"demo-002","points":1,"occurredAt":"2026-01-02T00:00:00Z"}\n',
};

const NIGHTLY: [string, string, string][] = [
  ['the guide to a nightly batch', 'python3', 'nightly-batch/nightly.py'],
  ['the guide to recording', process.execPath, 'record-and-reverse/record.mjs'],
  ['the guide to events', process.execPath, 'events-and-webhooks/follow.mjs'],
  ['the guide to privacy', 'python3', 'privacy/leavers.py'],
  ['reconciling in Node', process.execPath, join(EXAMPLES, 'node/reconcile.mjs')],
  ['reconciling in Python', 'python3', join(EXAMPLES, 'python/reconcile.py')],
];

describe.each(NIGHTLY)('at night, the program of %s', (_, command, path) => {
  let home: Folder;
  /** With a budget of its own: no time passes for the service. */
  let ownKey: string;
  /** Runs it, and resolves with its exit code and the seconds that it would have waited. */
  async function night() {
    const variables = {
      PATH: process.env.PATH,
      PARTNER_LOYALTY_URL: front.url,
      PARTNER_LOYALTY_KEY: ownKey,
      PYTHONPATH: home.path,
      NODE_OPTIONS: `--import ${join(home.path, 'clock.mjs')}`,
    };
    const file = path.startsWith('/') ? path : basename(path);
    const running = execFile(command, [file, '--once'], { cwd: home.path, env: variables });
    running.stdin?.end('demo-001\n');
    let stderr = '';
    running.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
    const [code] = await once(running, 'close');
    return { code, waited: Number(/waited (\d+)/.exec(stderr)?.[1]) };
  }

  beforeAll(async () => {
    const create = ['keys', 'create', 'demo-hotels', '--scopes', 'read,ingest'];
    const [made] = await loyaltyJson({ DATA_DIR: folder.path }, ...create);
    ownKey = String(made?.key);
  });
  beforeEach(() => {
    home = temporaryFolder();
    const [guide = '', name] = path.split('/');
    for (const block of path.startsWith('/') ? [] : guideBlocks(guide))
      if (savedAs(block) === name) writeFileSync(join(home.path, name ?? ''), block.text);
    for (const [clock, source] of Object.entries(CLOCKS))
      writeFileSync(join(home.path, clock), source);
  });
  afterEach(() => home.remove());

  const AWAY_LONG = { ...AWAY, headers: { ...AWAY.headers, 'retry-after': '1' } };
  const PAGE = { status: 502, body: '<h1>Bad gateway</h1>' };

  test('survives an outage of ten minutes, of the service and of what is between', async () => {
    front.failures.splice(0, 1, PAGE, 'close', 'lose the response', ...Array(13).fill(AWAY_LONG));
    const { code, waited } = await night();
    expect([code, front.failures]).toEqual([0, []]);
    expect(waited).toBeGreaterThan(600);
  });

  test('fails at its deadline if the outage lasts', async () => {
    front.failures.splice(0, 1, ...Array(100).fill(AWAY_LONG));
    const { code, waited } = await night();
    expect(code).toBe(1);
    expect(waited).toBeGreaterThan(800);
    expect(waited).toBeLessThan(900);
  });

  test('waits for a budget that is spent, and asks once more after an error that nobody expected', async () => {
    const unexpected = {
      ...AWAY,
      status: 500,
      body: AWAY.body.replace('SERVICE_UNAVAILABLE', 'INTERNAL_SERVER_ERROR'),
    };
    const spent = { ...SPENT, headers: { ...SPENT.headers, 'retry-after': '60' } };
    front.failures.splice(0, 1, unexpected, spent, unexpected);
    expect((await night()).code).toBe(1);
    front.failures.push(spent, unexpected, spent);
    expect((await night()).code).toBe(0);
    expect(front.failures).toEqual([]);
  });
});

test.each([
  ['node', process.execPath, 'node/record.mjs'],
  ['python', 'python3', 'python/record.py'],
])('%s: a mail that may have been sent is not sent again', async (name, command) => {
  const query = 'mutation { requestMagicLink(email: "nobody@example.com") { accepted } }';
  const program =
    name === 'node'
      ? [
          '--input-type=module',
          '-e',
          `import { ask, run } from './node/api.mjs';\nawait run(() => ask('${query}'));`,
        ]
      : [
          '-c',
          `import sys; sys.path.insert(0, 'python')\nfrom api import ask, run\nrun(lambda: ask('${query}', {}))`,
        ];
  const before = front.requests.length;
  front.failures.push(AWAY, 'close');
  for (const stderr of [/away/, /does not answer/])
    await expect(
      start(
        { command, args: program },
        { PARTNER_LOYALTY_URL: front.url, PARTNER_LOYALTY_KEY: key },
      ),
    ).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(stderr) });
  expect(front.requests.length - before).toBe(3);
});

test.each([
  ['node', process.execPath, 'node/record.mjs'],
  ['python', 'python3', 'python/record.py'],
])('%s: an activity counts once, and needs the scope ingest', async (name, command, file) => {
  front.failures.length = 0;
  const script = { command, args: [file] };
  const url = { PARTNER_LOYALTY_URL: front.url };
  const env = { DATA_DIR: folder.path };
  const [made] = await loyaltyJson(env, 'keys', 'create', 'demo-hotels', '--scopes', 'read');
  const { key: reader } = made as { key: string };
  const { stdout } = await start(script, { ...url, PARTNER_LOYALTY_KEY: key });
  const id = `example-${name}-\\d{4}-\\d\\d-\\d\\d`;
  expect(stdout).toMatch(new RegExp(`^${id} RECORDED\n${id} ALREADY_RECORDED\n$`));
  await expect(start(script, { ...url, PARTNER_LOYALTY_KEY: reader })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^FORBIDDEN: .*\n$/),
  });
});

test("the README's command finds the token of the latest link", async () => {
  const readme = readFileSync(join(EXAMPLES, 'README.md'), 'utf8');
  const [command = ''] = /^export MAGIC_LINK_TOKEN=.*$/m.exec(readme) ?? [];
  const here = command.replace('data/sandbox', folder.path);
  const found = await run('bash', ['-c', `${here}; echo "$MAGIC_LINK_TOKEN"`]);
  expect(found).toBe(`${await mailedToken(mails().length - 1)}\n`);
});

test('Postman: the requests of the collection pass their tests, one after the other', async () => {
  const file = 'postman/partner-loyalty.postman_collection.json';
  const collection: Collection = JSON.parse(readFileSync(join(EXAMPLES, file), 'utf8'));
  const before = mails().length;
  const outcomes = await runCollection(collection, { url: front.url, key });
  expect(outcomes.slice(0, 3)).toEqual([
    'Find a member: 429',
    'Find a member: the member has a standing: skipped',
    'Find a member: 200',
  ]);
  expect(outcomes.slice(3).filter((each) => !/: (200|passed)$/.test(each))).toEqual([
    'Exchange the token of the link: skipped',
    "The member's own profile: skipped",
  ]);
  const signIn = { ...collection, item: collection.item.slice(-2) };
  const given = { url: front.url, key, magicLinkToken: await mailedToken(before) };
  const signedIn = await runCollection(signIn, given);
  expect(signedIn.filter((each) => /: (200|passed)$/.test(each))).toHaveLength(4);
  expect(await runCollection(signIn, given)).toEqual([
    'Exchange the token of the link: 200',
    expect.stringMatching(/the token is good: Error: INVALID_TOKEN$/),
    "The member's own profile: skipped",
  ]);
});

test('the .http file: each request gets the response that its title says', async () => {
  const text = readFileSync(join(EXAMPLES, 'requests.http'), 'utf8').replace(
    'http://localhost:4000/graphql',
    front.url,
  );
  const before = mails().length;
  const replies = await runHttpFile(text, { PARTNER_LOYALTY_KEY: key }, () => mailedToken(before));
  expect(replies.map(([name, { status }]) => [name, status])).toEqual([
    ['find', 429],
    ...['find', 'several', 'nobody', 'enroll', 'end', 'link', 'session', 'profile'].map((name) => [
      name,
      200,
    ]),
  ]);
  const bodies = Object.fromEntries(replies.map(([name, { text }]) => [name, JSON.parse(text)]));
  const { nobody, ...others } = bodies;
  expect(nobody.errors[0].extensions.code).toBe('MEMBER_NOT_FOUND');
  for (const body of Object.values(others)) expect(body).not.toHaveProperty('errors');
  expect(bodies.find.data.memberByEmail).toMatchObject({ points: 5200, standing: {} });
  expect(bodies.several.data.memberLookups[2]).toEqual({ member: null });
  expect(bodies.enroll.data.enrollMember.created).toBe(true);
  expect(bodies.profile.data.memberProfile.standings).toEqual([
    { partnerName: 'Demo Hotels', tier: 'Gold', points: 5200 },
  ]);
});
