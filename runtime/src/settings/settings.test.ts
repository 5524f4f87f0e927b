// What the environment variables mean, and how wrong ones are reported.
import { resolve } from 'node:path';
import { placesOf } from '../process/ports.ts';
import { readSettings } from './settings.ts';
import { settingsOfSubgraph } from './subgraphs.ts';
import { SETTINGS } from './table.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const SECRET = 'a secret of some length';

test('without variables, everything runs as the sandbox on port 4000, on the embedded store', () => {
  expect(readSettings({}, 'all')).toMatchObject({
    subgraphs: {},
    explorer: 'on',
    console: 'on',
    port: 4000,
    sandboxUrl: 'http://localhost:4000',
    productionUrl: 'http://localhost:4001',
    hasBaseUrl: false,
    hasOtherBaseUrl: false,
    dataDir: resolve(ROOT, 'data/sandbox'),
    mailFrom: 'no-reply@localhost',
    adminPort: 14000,
  });
});

test.each(
  Object.values(SETTINGS).flatMap(({ name, default: unset }) => {
    const [, value] = /^`?([^\s`]+)`?$/.exec(unset) ?? [];
    return value === undefined || value === 'none' ? [] : [[name, value]];
  }),
)('without %s, it is as if it were the documented default, %s', (name, value) => {
  expect(readSettings({ [name]: value }, 'all')).toEqual(readSettings({}, 'all'));
});

test.each(Object.entries(SETTINGS).filter(([, row]) => row.default.startsWith('none')))(
  'the default of %s, none, is no value',
  (key) => {
    expect([undefined, []]).toContainEqual(
      new Map(Object.entries(readSettings({}, 'all'))).get(key),
    );
  },
);

test('in one process, the base URL of its own environment is where it listens', () => {
  const urlsOf = (env: Record<string, string>, process: 'all' | 'gateway' = 'all') => {
    const { sandboxUrl, productionUrl, hasBaseUrl } = readSettings(env, process);
    return [sandboxUrl, productionUrl, hasBaseUrl];
  };
  const [sandbox, production] = ['http://localhost:4000', 'http://localhost:4001'];
  expect(urlsOf({ PORT: '22000' })).toEqual(['http://localhost:22000', production, false]);
  expect(urlsOf({ ENVIRONMENT: 'production', HOST: 'api.example' })).toEqual([
    sandbox,
    'http://api.example:4001',
    false,
  ]);
  for (const host of ['0.0.0.0', '::', '127.0.0.1'])
    expect(urlsOf({ HOST: host })[0]).toBe(sandbox);
  expect(urlsOf({ HOST: '::1' })[0]).toBe('http://[::1]:4000');
  expect(urlsOf({ PORT: '0' })[0]).toBe(sandbox);
  expect(urlsOf({ PORT: '22000', SANDBOX_URL: 'https://a.example' })).toEqual([
    'https://a.example',
    production,
    true,
  ]);
  expect(urlsOf({ PORT: '22000', SUBGRAPH_SECRET: SECRET }, 'gateway')).toEqual([
    sandbox,
    production,
    false,
  ]);
});

test('an empty variable is the same as an unset one', () => {
  const empty = Object.fromEntries(Object.values(SETTINGS).map((row) => [row.name, '']));
  expect(readSettings(empty, 'all')).toEqual(readSettings({}, 'all'));
});

test.each([
  ['all', { ENVIRONMENT: 'production' }, [4001, 14001]],
  ['members', { ENVIRONMENT: 'production' }, [4011, 14011]],
  ['standings', {}, [4012, 14012]],
  ['all', { PORT: '5000' }, [5000, 15000]],
  ['all', { PORT: '0' }, [0, 0]],
  ['all', { PORT: '60000' }, [60000, 0]],
  ['all', { PORT: '5000', ADMIN_PORT: '7' }, [5000, 7]],
] as const)('the ports of %s with %j are %j', (process, env, ports) => {
  const { port, adminPort } = readSettings({ SUBGRAPH_SECRET: SECRET, ...env }, process);
  expect([port, adminPort]).toEqual(ports);
});

test('every variable is read in its own format', () => {
  const asTheyAre = {
    MONGODB_URL: 'mongodb://user:password@one:27017,two:27017/loyalty?replicaSet=rs',
    REDIS_URL: 'rediss://redis:6380/1',
    ID_TOKEN_ISSUER: 'https://id.example/',
    ID_TOKEN_JWKS_URL: 'https://id.example/keys?v=1',
    SMTP_URL: 'smtps://user:password@mail:465',
    MAIL_FROM: 'Loyalty <no-reply@api.example>',
    DATA_DIR: '/tmp/somewhere',
    HOST: '::',
  };
  const env = {
    ...asTheyAre,
    SANDBOX_URL: 'https://sandbox.example/',
    PRODUCTION_URL: 'https://api.example/loyalty/',
    MEMBERS_URL: 'http://members:4011/graphql',
    STANDINGS_URL: 'https://standings/',
    STANDINGS_SECRET: 'of standings alone',
    SUPERGRAPH_FILE: 'graph.graphql',
    SUBGRAPH_SECRET: SECRET,
    ID_TOKEN_AUDIENCE: 'loyalty',
    TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8,192.0.2.1 ::1',
    CORS_ORIGINS: 'https://shop.example,http://localhost:3000,capacitor://localhost',
  };
  const settings = readSettings(env, 'all');
  expect(Object.values(settings)).toEqual(expect.arrayContaining(Object.values(asTheyAre)));
  expect(settings).toMatchObject({
    sandboxUrl: 'https://sandbox.example',
    productionUrl: 'https://api.example/loyalty',
    supergraphFile: resolve(ROOT, 'graph.graphql'),
    subgraphs: {
      MEMBERS: { url: 'http://members:4011/graphql', faults: [] },
      STANDINGS: { url: 'https://standings/graphql', secret: 'of standings alone', faults: [] },
    },
    idTokenAudience: [env.ID_TOKEN_AUDIENCE],
    trustedProxies: ['10.0.0.0/8', 'fd00::/8', '192.0.2.1/32', '::1/128'],
    corsOrigins: ['https://shop.example', 'http://localhost:3000', 'capacitor://localhost'],
  });
  const relative = { DATA_DIR: 'elsewhere', PRODUCTION_URL: 'https://api.example' };
  expect(readSettings({ ...relative, ENVIRONMENT: 'production' }, 'all')).toMatchObject({
    dataDir: resolve(ROOT, 'elsewhere'),
    mailFrom: 'no-reply@api.example',
  });
});

test.each([
  ['redis+cluster://a:1,b:2', true],
  ['rediss+cluster://user:p,a/ss@a:1,[::1]:2/', false],
  ['rediss+cluster://user:pass@a:1,[::1]:2/', true],
  ['redis+cluster://a:1,b:2/0', false],
  ['redis+cluster://a:1,,b:2', false],
  ['redis+cluster://', false],
])('REDIS_URL may be %s: %s', (REDIS_URL, isAllowed) => {
  const read = () => readSettings({ SUBGRAPH_SECRET: SECRET, REDIS_URL }, 'all').redisUrl;
  if (isAllowed) expect(read()).toBe(REDIS_URL);
  else expect(read).toThrow('REDIS_URL');
});

test('all faults are reported at once, one per line, without secrets', () => {
  const wrong = {
    ENVIRONMENT: 'staging',
    PORT: '70000',
    ADMIN_PORT: '-1',
    HOST: 'no host',
    SANDBOX_URL: 'ftp://files',
    PRODUCTION_URL: 'http://user:password@host',
    MONGODB_URL: 'http://hidden',
    REDIS_URL: 'hidden',
    SMTP_URL: 'https://hidden',
    SUBGRAPH_SECRET: 'hidden',
    SUBGRAPH_SECRET_OLD: 'hidden',
    RATE_LIMIT_BUDGET: '0',
    RATE_LIMIT_WINDOW_SECONDS: '1.5',
    MEMBERS_URL: 'http://members/graphql?a=b',
    MEMBERS_SECRET: 'hidden',
    STANDINGS_URL: '//standings',
    ID_TOKEN_JWKS_URL: 'file:///keys',
    MAIL_FROM: 'nobody',
    TRUSTED_PROXIES: '10.0.0.0/33',
    CORS_ORIGINS: 'https://shop.example/',
    LOG_LEVEL: 'loud',
  };
  const report = message(() => readSettings(wrong, 'all'));
  const lines = report.split('\n').slice(1);
  expect(lines.map((line) => line.trim().split(' ')[0]).sort()).toEqual(Object.keys(wrong).sort());
  expect(report).not.toContain('hidden');
  expect(report).toContain('PORT must be an integer from 0 to 65535, but is "70000"');
});

test.each([
  ...['file://', 'null', '*', 'chrome-extension://abc', 'app://localhost', 'capacitor://'],
  ...['capacitor://localhost/', 'ionic://localhost:80', 'tauri://user@localhost', 'ws://a.example'],
  ...['CAPACITOR://localhost', 'capacitor:localhost', 'https://shop.example/path', 'localhost'],
])('%s is no origin of a page', (origin) => {
  expect(message(() => readSettings({ CORS_ORIGINS: origin }, 'all'))).toContain(
    'CORS_ORIGINS must be a list of origins as browsers send them, such as https://shop.example or capacitor://localhost',
  );
});

test('a subgraph that runs on its own needs the secret, and so does the process that calls it', () => {
  for (const process of ['members', 'standings'] as const)
    expect(message(() => readSettings({}, process))).toContain('SUBGRAPH_SECRET must be set');
  expect(message(() => readSettings({ MEMBERS_URL: 'http://members' }, 'all'))).toContain(
    'SUBGRAPH_SECRET must be set',
  );
  expect(message(() => readSettings({}, 'gateway'))).toContain('SUBGRAPH_SECRET must be set');
  const own = { MEMBERS_SECRET: SECRET, STANDINGS_SECRET: `${SECRET} too` };
  expect(settingsOfSubgraph(readSettings(own, 'gateway'), 'standings')).toEqual({
    secret: own.STANDINGS_SECRET,
  });
});

test('the secret that subgraphs share is for those of this repository alone', () => {
  const env = {
    SUBGRAPH_SECRET: SECRET,
    OFFERS_EU_URL: 'http://offers:4020/eu',
    GIFTS_SECRET_OLD: 'short',
    DATABASE_URL: 'postgres://elsewhere',
  };
  const settings = readSettings(env, 'gateway');
  expect(settingsOfSubgraph(settings, 'members')).toEqual({ secret: SECRET });
  expect(settingsOfSubgraph(settings, 'offers-eu')).toEqual({ url: 'http://offers:4020/eu' });
  expect(settingsOfSubgraph(settings, 'others')).toEqual({});
  expect(() => settingsOfSubgraph(settings, 'gifts')).toThrow(
    'GIFTS_SECRET_OLD must have at least 16 characters',
  );
});

test('an identity provider needs an issuer and an audience; its keys can be discovered', () => {
  const provider = { ID_TOKEN_ISSUER: 'https://id.example', ID_TOKEN_AUDIENCE: 'loyalty' };
  expect(message(() => readSettings({ ID_TOKEN_ISSUER: 'https://id.example' }, 'all'))).toContain(
    'ID_TOKEN_AUDIENCE must be set',
  );
  expect(
    message(() => readSettings({ ID_TOKEN_JWKS_URL: 'https://id.example/keys' }, 'all')),
  ).toContain('ID_TOKEN_ISSUER must be set');
  expect(message(() => readSettings({ ...provider, ID_TOKEN_ISSUER: 'id' }, 'all'))).toContain(
    'ID_TOKEN_JWKS_URL must be set',
  );
  expect(readSettings(provider, 'all').idTokenJwksUrl).toBeUndefined();
});

test('the two ports of a process must differ', () => {
  expect(message(() => readSettings({ PORT: '5000', ADMIN_PORT: '5000' }, 'all'))).toContain(
    'ADMIN_PORT must differ from PORT',
  );
});

function message(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  throw new Error('nothing was thrown');
}

test('standings alone needs the secret of members only if it knows where members is', () => {
  const own = { STANDINGS_SECRET: SECRET };
  const url = 'http://members:4011';
  expect(readSettings({ ...own, MEMBERS_SECRET_OLD: SECRET }, 'standings')).toBeDefined();
  expect(() => readSettings({ ...own, MEMBERS_URL: url }, 'standings')).toThrow(
    'SUBGRAPH_SECRET must be set',
  );
  const whole = { ...own, MEMBERS_URL: url, MEMBERS_SECRET: SECRET };
  expect(settingsOfSubgraph(readSettings(whole, 'standings'), 'members')).toMatchObject({
    url: `${url}/graphql`,
    secret: SECRET,
  });
  expect(() => readSettings({ ...whole, MEMBERS_URL: 'members' }, 'standings')).toThrow(
    'MEMBERS_URL',
  );
});

test.each([
  [{}, 'on'],
  [{ SANDBOX_URL: 'http://127.0.0.2:4000' }, 'on'],
  [{ SANDBOX_URL: 'http://[::1]:4000/api' }, 'on'],
  [{ SANDBOX_URL: 'https://sandbox.example' }, 'off'],
  [{ SANDBOX_URL: 'https://localhost.example' }, 'off'],
  [{ SANDBOX_URL: 'https://127.0.0.1.example' }, 'off'],
  [{ WEBHOOK_PRIVATE: 'off' }, 'off'],
  [{ SANDBOX_URL: 'https://sandbox.example', WEBHOOK_PRIVATE: 'on' }, 'on'],
  [{ ENVIRONMENT: 'production', PRODUCTION_URL: 'http://localhost:4001' }, 'off'],
])('with %j, webhooks to private addresses are %s', (env, expected) => {
  for (const process of ['all', 'standings'] as const)
    expect(readSettings({ SUBGRAPH_SECRET: 's'.repeat(16), ...env }, process).webhookPrivate).toBe(
      expected,
    );
});

test('webhooks to private addresses are refused in production', () => {
  const env = { ENVIRONMENT: 'production', WEBHOOK_PRIVATE: 'on', SUBGRAPH_SECRET: 's'.repeat(16) };
  for (const process of ['all', 'standings'] as const)
    expect(() => readSettings(env, process)).toThrow(
      'WEBHOOK_PRIVATE must not be on in production',
    );
  expect(readSettings(env, 'gateway').webhookPrivate).toBe('off');
});

test.each([
  ['MONGODB_URI', 'MONGODB_URL'],
  ['mongodb_url', 'MONGODB_URL'],
  ['DATABASE_URL', 'MONGODB_URL'],
  ['REDIS_ULR', 'REDIS_URL'],
  ['LOGGING_LEVEL', 'LOG_LEVEL'],
  ['DATADIR', 'DATA_DIR'],
  ['ADMN_PORT', 'ADMIN_PORT'],
])('%s was probably meant to be %s', (name, meant) => {
  expect(readSettings({ [name]: 'x' }, 'all').misspelled).toEqual([{ name, meant, isSet: false }]);
});

test('variables of shells, npm, Node and Kubernetes, and far or short names, are no settings', () => {
  const env = {
    ...{ HOSTS: 'x', POST: 'x', PORTS: 'x', CONOSLE: 'x', DTA_DR_X: 'x', MONGODB_URI: ' ' },
    ...{ HOME: '/root', MAIL: 'x', LANG: 'C', HOSTNAME: 'x', LOGNAME: 'x', EDITOR: 'x', TERM: 'x' },
    ...{ npm_config_loglevel: 'x', NPM_LOG_LEVEL: 'x', NODE_ENV: 'production', NODE_PORT: 'x' },
    ...{ REDIS_SERVICE_HOST: 'x', REDIS_SERVICE_PORT: '1', REDIS_SERVICE_PORT_TLS: '1' },
    ...{ ADMI_PORT: 'tcp://10.0.0.1:1', ADMIN_PORT_1_TCP: 'x', MONGODB_PORT_27017_TCP_ADDR: 'x' },
    ...{ OFFERS_URL: 'http://offers', OFFERS_SECRET: SECRET, MEMBERS_SECRET: SECRET },
  };
  expect(readSettings(env, 'all').misspelled).toEqual([]);
  expect(readSettings({ SUBGRAPH_SECRET: SECRET, SMPT_URL: 'x' }, 'gateway').misspelled).toEqual(
    [],
  );
});

test('in production, a name that was meant for the store is refused unless the store is set', () => {
  const production = { ENVIRONMENT: 'production' };
  const url = 'mongodb://u:hidden@db';
  for (const name of ['MONGO_URL', 'MONGODB_URI', 'DATABASE_URL']) {
    const report = message(() => readSettings({ ...production, [name]: url }, 'all'));
    expect(report).toContain(`${name} is no setting: MONGODB_URL is, and is not set`);
    expect(report).not.toContain('hidden');
    expect(readSettings({ [name]: url }, 'all').misspelled).toHaveLength(1);
    const set = { ...production, [name]: url, MONGODB_URL: url };
    expect(readSettings(set, 'all').misspelled).toHaveLength(1);
  }
  expect(message(() => readSettings({ ...production, DATADIR: 'x' }, 'all'))).toContain('DATA_DIR');
  for (const env of [{ REDIS_URI: 'x' }, { DATADIR: 'x', DATA_DIR: 'y' }])
    expect(readSettings({ ...production, ...env }, 'all').misspelled).toHaveLength(1);
});

test.each([
  [{ dataDir: '/data' }, { engine: 'lmdb', folder: '/data', redis: 'none' }],
  [{ mongodbUrl: 'mongodb://db' }, { engine: 'mongodb', database: 'db/loyalty', redis: 'none' }],
  [
    {
      mongodbUrl: 'mongodb://u:p%40@ss/w?@a:1,b:2/?replicaSet=r',
      redisUrl: 'rediss://:secret@cache:6380/1?x=y',
    },
    { engine: 'mongodb', database: 'a:1,b:2/loyalty', redis: 'cache:6380/1' },
  ],
  [
    { mongodbUrl: 'mongodb+srv://db.example/own', redisUrl: 'redis+cluster://a:1,b:2' },
    { engine: 'mongodb', database: 'db.example/own', redis: 'a:1,b:2' },
  ],
])('%j is shown without credentials', (urls, shown) => {
  expect(placesOf({ dataDir: '', ...urls })).toEqual(shown);
});
