// What docker-compose.yml and the Dockerfile promise, as far as reading them shows it.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import {
  OWN_SUBGRAPHS,
  settingsOfSubgraph,
  variableOf,
} from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { type ProcessName, SETTINGS } from '@partner-loyalty/runtime/settings/table.ts';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { CLOSING_SECONDS, HEAP_PARTS, heapMegabytes } from '../support/limits.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

type Service = {
  image: string;
  command?: string[];
  hostname?: string;
  build?: { context: string; target: string; args?: { COMMIT: string } };
  user: string;
  read_only: boolean;
  cap_drop: string[];
  security_opt: string[];
  tmpfs: string[];
  restart: string;
  stop_grace_period: string;
  profiles?: string[];
  networks: string[];
  ports?: string[];
  volumes?: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  deploy: { resources: { limits: { cpus: string; memory: string; pids: number } } };
};

// Cast: the first test below checks the file's shape.
const file = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, Service>;
};
/** The Dockerfile's lines by target. */
const stages = Object.fromEntries(
  read('Dockerfile')
    .split(/^FROM \S+ AS /m)
    .slice(1)
    .map((text) => text.split('\n'))
    .map(([name = '', ...lines]) => [name, lines]),
);
const targets = ['gateway', 'members', 'standings', 'loyalty'];
const services = Object.entries(file.services);
const built = services.filter(([, { build }]) => build !== undefined);
const staying = services.filter(([name]) => !name.startsWith('loyalty'));
const SECRETS = {
  SUBGRAPH_SECRET: 'a-secret-of-the-sandbox',
  MONGO_PASSWORD: 'mongo-of-the-sandbox',
  REDIS_PASSWORD: 'redis-of-the-sandbox',
  PRODUCTION_SUBGRAPH_SECRET: 'a-secret-of-production',
  PRODUCTION_MONGO_PASSWORD: 'mongo-of-production',
  PRODUCTION_REDIS_PASSWORD: 'redis-of-production',
  PRODUCTION_SMTP_URL: 'smtps://loyalty:secret@mail.example',
};

const TEXT = { type: 'string' };
const TEXTS = { type: 'array', items: TEXT, uniqueItems: true };
const DURATION = { type: 'string', pattern: '^([0-9]+(ms|s|m|h))+$' };
const only = (properties: object) => ({ type: 'object', properties, additionalProperties: false });
const named = (item: object) => ({ type: 'object', additionalProperties: item });
const LIMITS = { cpus: TEXT, memory: { type: 'string', pattern: '^[0-9]+M$' } };
const HEALTH = { interval: DURATION, timeout: DURATION, start_period: DURATION, test: TEXTS };
const CONDITIONS = ['service_started', 'service_healthy', 'service_completed_successfully'];

/** What the Compose Specification lets the parts be that the file has. It has no others. */
const FORM = {
  ...only({
    name: TEXT,
    networks: named({ type: 'null' }),
    volumes: named({ type: 'null' }),
    services: named(
      only({
        ...{ image: TEXT, command: { type: 'array', items: TEXT }, hostname: TEXT, user: TEXT },
        ...{ environment: named(TEXT), restart: { enum: ['no', 'unless-stopped'] } },
        ...{ read_only: { type: 'boolean' }, cap_drop: TEXTS, security_opt: TEXTS, tmpfs: TEXTS },
        ...{ profiles: TEXTS, networks: TEXTS, ports: TEXTS, volumes: TEXTS },
        stop_grace_period: DURATION,
        build: only({ context: TEXT, target: TEXT, args: named(TEXT) }),
        depends_on: named(only({ condition: { enum: CONDITIONS } })),
        healthcheck: only({ ...HEALTH, retries: { type: 'integer' } }),
        deploy: only({
          resources: only({ limits: only({ ...LIMITS, pids: { type: 'integer' } }) }),
        }),
      }),
    ),
  }),
  patternProperties: { '^x-': {} },
};

test('the file has the names and forms of the compose specification', () => {
  const validate = new Ajv().compile(FORM);
  validate(file);
  expect(validate.errors).toBeNull();
  expect(validate({ services: { gateway: { comand: [] } } })).toBe(false);
  expect(validate({ services: { gateway: { command: 'npm start' } } })).toBe(false);
});

test('the sandbox starts by default, production and the operator command by profile', () => {
  const byProfile = (profile?: string) =>
    services.filter(([, { profiles }]) => profiles?.[0] === profile).map(([name]) => name);
  expect(byProfile()).toEqual(['mongo', 'redis', 'mailpit', 'members', 'standings', 'gateway']);
  expect(byProfile('production')).toEqual([
    'mongo-production',
    'redis-production',
    'members-production',
    'standings-production',
    'gateway-production',
  ]);
  expect(byProfile('operator')).toEqual(['loyalty', 'loyalty-production']);
});

test.each(services)(
  '%s runs without root, without capabilities, on a read-only file system, within limits',
  (_name, service) => {
    expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(service.read_only).toBe(true);
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
    expect(service.tmpfs).toContain('/tmp');
    const { cpus, memory, pids } = service.deploy.resources.limits;
    expect(Number(cpus)).toBeGreaterThan(0);
    expect(memory).toMatch(/^\d+M$/);
    expect(pids).toBeGreaterThan(0);
  },
);

test.each(staying)(
  '%s says whether it is healthy, and waits for what it needs to be',
  (_name, service) => {
    expect(service.healthcheck?.test[0]).toBe('CMD');
    const needed = Object.entries(service.depends_on ?? {});
    expect(
      needed.filter(
        ([name, { condition }]) =>
          condition !== 'service_healthy' || file.services[name]?.healthcheck === undefined,
      ),
    ).toEqual([]);
  },
);

test.each(services)('%s is built here or pinned to a digest', (_name, { image, build }) => {
  if (build === undefined)
    expect(image).toMatch(/^[\w./-]+:v?\d+\.\d+\.\d+[\w-]*@sha256:[0-9a-f]{64}$/);
  else expect(stages).toHaveProperty(build.target);
});

test('Renovate keeps the digests of images', () => {
  const { packageRules } = JSON.parse(read('.github/renovate.json'));
  expect(packageRules).toContainEqual(
    expect.objectContaining({ matchDatasources: ['docker'], pinDigests: true }),
  );
});

test('ports are published on the loopback address only', () => {
  const published = services.flatMap(([, { ports }]) => ports ?? []);
  expect(published).not.toHaveLength(0);
  expect(published.filter((port) => !/^127\.0\.0\.1:\d+:\d+$/.test(port))).toEqual([]);
});

test('the file contains no secret: they come from the environment, and production has its own', () => {
  for (const [, { environment = {} }] of services) {
    for (const [name, value] of Object.entries(environment))
      if (/SECRET|PASSWORD|TOKEN|KEY|AUTH/.test(name))
        expect(value).toMatch(/^\$\{\w+:[-?][^}]*\}$/);
    for (const value of Object.values(environment)) {
      const written = value.replace(/\$\{\w+:[-?][^}]*\}/g, '');
      expect(written).not.toMatch(/\/\/[^/@]*:[^/@]+@/);
    }
  }
  expect(settingsOf('gateway').subgraphSecret).toBe(SECRETS.SUBGRAPH_SECRET);
  expect(settingsOf('gateway-production').subgraphSecret).toBe(SECRETS.PRODUCTION_SUBGRAPH_SECRET);
  expect(() => settingsOf('gateway', {})).toThrow('make one with openssl');
  expect(() =>
    settingsOf('gateway-production', { SUBGRAPH_SECRET: SECRETS.SUBGRAPH_SECRET }),
  ).toThrow('SUBGRAPH_SECRET must be set');
});

test('production sends its mail by its own server: without one, members does not start', () => {
  expect(settingsOf('members').smtpUrl).toBe('smtp://mailpit:1025');
  const { PRODUCTION_SMTP_URL, ...others } = SECRETS;
  expect(settingsOf('members-production').smtpUrl).toBe(PRODUCTION_SMTP_URL);
  expect(() => settingsOf('members-production', others)).toThrow('SMTP_URL must');
});

test("partners' webhooks reach no private address, and production encrypts their secrets", () => {
  for (const name of ['standings', 'standings-production'])
    expect(settingsOf(name).webhookPrivate).toBe('off');
  expect(file.services['standings-production']?.environment).toHaveProperty('KEY_ENCRYPTION_KEY');
});

test("gateways call other teams' subgraphs in this network only at hosts that the operator names", () => {
  for (const [name, variable] of [
    ['gateway', 'SUBGRAPH_HOSTS'],
    ['gateway-production', 'PRODUCTION_SUBGRAPH_HOSTS'],
  ] as const) {
    expect(settingsOf(name).subgraphHosts).toEqual(['*.subgraphs.internal']);
    const named = settingsOf(name, { ...SECRETS, [variable]: 'offers:4021' });
    expect(named.subgraphHosts).toEqual(['offers:4021']);
  }
});

test('a client cannot choose its address: no proxy is trusted unless the operator names it', () => {
  for (const name of ['gateway', 'gateway-production']) {
    expect(settingsOf(name).trustedProxies).toEqual([]);
    const named = settingsOf(name, { ...SECRETS, TRUSTED_PROXIES: '172.18.0.1' });
    expect(named.trustedProxies).toHaveLength(1);
  }
});

test.each(built)('%s has known settings with valid values', (name, { environment = {} }) => {
  const known = [
    'NODE_OPTIONS',
    ...Object.values(SETTINGS).map((row) => row.name),
    ...OWN_SUBGRAPHS.map((subgraph) => variableOf(subgraph, 'url')),
  ];
  expect(Object.keys(environment).filter((variable) => !known.includes(variable))).toEqual([]);
  expect(settingsOf(name).environment).toBe(
    name.endsWith('-production') ? 'production' : 'sandbox',
  );
});

test.each(built)('%s has a memory limit that its heaps fit in', (name, service) => {
  const heap = heapMegabytes(service.environment?.NODE_OPTIONS, processOf(name) === 'gateway');
  expect(heap).toBeLessThan(
    Number.parseInt(service.deploy.resources.limits.memory, 10) * HEAP_PARTS,
  );
});

test.each(built.filter(([name]) => !name.startsWith('loyalty')))(
  '%s has time to drain before it is killed',
  (name, service) => {
    const { drainSeconds } = settingsOf(name);
    expect(drainSeconds).toBeGreaterThan(0);
    expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThanOrEqual(
      drainSeconds + CLOSING_SECONDS,
    );
  },
);

test.each(built.filter(([name]) => !name.startsWith('loyalty')))(
  '%s listens where its health check, the other services and its users connect',
  (name, service) => {
    const { host, port, adminPort } = settingsOf(name);
    expect(host).toBe('0.0.0.0');
    expect(service.healthcheck?.test.join(' ')).toContain(`http://127.0.0.1:${adminPort}/readyz`);
    expect(service.ports ?? []).toEqual(
      processOf(name) === 'gateway' ? [`127.0.0.1:${port}:${port}`] : [],
    );
    for (const address of ['members', 'standings'].map(
      (each) => settingsOfSubgraph(settingsOf(name), each).url,
    )) {
      if (address === undefined) continue;
      const { hostname, port: theirs } = new URL(address);
      expect(service.depends_on?.[hostname]).toBeDefined();
      expect(settingsOf(hostname).port).toBe(Number(theirs));
      expect(file.services[hostname]?.networks).toEqual(service.networks);
    }
  },
);

test('a sandbox that is broken into reaches nothing of production: they share no network, server, volume or password', () => {
  for (const [name, { networks, volumes = [] }] of services) {
    const environment = name.endsWith('-production') ? 'production' : 'sandbox';
    expect(networks).toEqual([environment]);
    for (const volume of volumes)
      expect(volume.split(':')[0]?.includes('production')).toBe(environment === 'production');
  }
  for (const name of ['gateway', 'members', 'standings', 'loyalty']) {
    const secretsOf = (service: string) =>
      JSON.stringify(file.services[service]?.environment).match(/(?<=\$\{)\w*(SECRET|PASSWORD)/g);
    const own = secretsOf(name) ?? [];
    expect(own.length).toBeGreaterThan(1);
    expect(secretsOf(`${name}-production`)).toEqual(own.map((secret) => `PRODUCTION_${secret}`));
  }
});

test.each([
  ['', ''],
  ['-production', 'PRODUCTION_'],
])(
  'MongoDB and Redis%s have passwords, which everything that connects to them sends',
  (suffix, prefix) => {
    const environmentOf = (name: string) => file.services[name + suffix]?.environment ?? {};
    const resolved = (name: string, variable: string) =>
      interpolate(environmentOf(name)[variable] ?? '', SECRETS);
    const passwords = SECRETS as Record<string, string>;
    expect(resolved('mongo', 'MONGO_INITDB_ROOT_USERNAME')).toBe('loyalty');
    expect(resolved('mongo', 'MONGO_INITDB_ROOT_PASSWORD')).toBe(
      passwords[`${prefix}MONGO_PASSWORD`],
    );
    const { hostname: own, command } = file.services[`mongo${suffix}`] ?? {};
    expect(own).toBe(`mongo${suffix}`);
    expect(interpolate(command?.at(-1) ?? '', SECRETS)).toContain('--replSet loyalty --keyFile');
    expect(resolved('redis', 'REDISCLI_AUTH')).toBe(passwords[`${prefix}REDIS_PASSWORD`]);
    for (const name of ['gateway', 'members', 'standings', 'loyalty']) {
      const { hostname, username, password } = new URL(resolved(name, 'MONGODB_URL'));
      expect([hostname, username, password]).toEqual([
        `mongo${suffix}`,
        'loyalty',
        passwords[`${prefix}MONGO_PASSWORD`],
      ]);
    }
    const { hostname, password } = new URL(resolved('gateway', 'REDIS_URL'));
    expect([hostname, password]).toEqual([`redis${suffix}`, passwords[`${prefix}REDIS_PASSWORD`]]);
  },
);

test('every missing password of the sandbox stops compose with a line that says how to make one', () => {
  for (const missing of ['SUBGRAPH_SECRET', 'MONGO_PASSWORD', 'REDIS_PASSWORD']) {
    const variables = { ...SECRETS, [missing]: '' };
    expect(() => interpolate(read('docker-compose.yml'), variables)).toThrow(
      'make one with openssl',
    );
  }
});

test('every image is built on the one pinned version of Node', () => {
  const lines = read('Dockerfile').split('\n');
  const [base, ...others] = lines.filter((line) => line.startsWith('FROM '));
  expect(base).toMatch(/^FROM node:24\.\d+\.\d+-slim@sha256:[0-9a-f]{64} AS base$/);
  expect(others).toEqual(targets.map((target) => `FROM base AS ${target}`));
});

test.each(targets)('the image of %s has the commit that it was built from', (target) => {
  const lines = stages[target]?.join('\n') ?? '';
  expect(lines).toContain('\nARG COMMIT=unknown\nENV COMMIT=$COMMIT\n');
  for (const [, { build }] of built.filter(([, each]) => each.build?.target === target))
    expect(build?.args?.COMMIT).toMatch(/^\$\{COMMIT:-/);
});

test.each(targets)('%s starts node itself, as a user other than root', (target) => {
  const lines = stages[target] ?? [];
  expect(lines).toContain('USER node');
  const start: string[] = JSON.parse(
    /^(?:CMD|ENTRYPOINT) (\[.*\])$/m.exec(lines.join('\n'))?.[1] ?? '[]',
  );
  expect(start[0]).toBe('node');
  expect(existsSync(join(ROOT, start.at(-1) ?? ''))).toBe(true);
  expect(start.includes('--env-file=node.env')).toBe(target !== 'loyalty');
});

function processOf(service: string): ProcessName {
  const [name] = service.split('-');
  return name === 'gateway' || name === 'members' || name === 'standings' ? name : 'all';
}

function settingsOf(service: string, variables: Record<string, string> = SECRETS) {
  const environment = Object.entries(file.services[service]?.environment ?? {});
  return readSettings(
    Object.fromEntries(environment.map(([name, value]) => [name, interpolate(value, variables)])),
    processOf(service),
  );
}

// As the specification has it: ${NAME:-default}, ${NAME:?message} and $$, which stands for $.
function interpolate(value: string, variables: Record<string, string>): string {
  return value.replace(
    /\$\$|\$\{(\w+):([-?])([^}]*)\}/g,
    (all, name: string, kind: string, rest: string) => {
      if (all === '$$') return '$';
      if (variables[name]) return variables[name];
      if (kind === '?') throw new Error(rest);
      return rest;
    },
  );
}
