// What docker-compose.yml and the Dockerfile promise, as far as reading them shows it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import {
  OWN_SUBGRAPHS,
  settingsOfSubgraph,
  variableOf,
} from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { type ProcessName, SETTINGS } from '@partner-loyalty/runtime/settings/table.ts';
import { parse } from 'yaml';
import { ROOT, read } from '../support/files.ts';
import { CLOSING_SECONDS, HEAP_PARTS, heapMegabytes } from '../support/limits.ts';

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

/** The parts that the Compose Specification lets a service have, as far as the file has them. */
const PARTS = [
  ...['image', 'build', 'command', 'environment', 'hostname', 'user', 'read_only', 'cap_drop'],
  ...['security_opt', 'tmpfs', 'profiles', 'networks', 'ports', 'volumes', 'restart', 'deploy'],
  ...['stop_grace_period', 'depends_on', 'healthcheck'],
];

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
  '%s is built here or pinned, and runs without root and capabilities, read-only, within limits',
  (_name, { image, build, ...service }) => {
    expect(Object.keys(service).filter((part) => !PARTS.includes(part))).toEqual([]);
    if (build !== undefined) expect(stages).toHaveProperty(build.target);
    else expect(image).toMatch(/^[\w./-]+:v?\d+\.\d+\.\d+[\w-]*@sha256:[0-9a-f]{64}$/);
    expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(service).toMatchObject({
      ...{ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] },
      deploy: {
        resources: {
          limits: { cpus: expect.any(String), memory: expect.stringMatching(/^\d+M$/) },
        },
      },
    });
    expect(service.deploy.resources.limits.pids).toBeGreaterThan(0);
  },
);

test.each(staying)('%s says whether it is healthy, and waits for what it needs', (_, service) => {
  expect(service.healthcheck?.test[0]).toBe('CMD');
  for (const [name, { condition }] of Object.entries(service.depends_on ?? {})) {
    expect(condition).toBe('service_healthy');
    expect(file.services[name]?.healthcheck).toBeDefined();
  }
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

test.each(['', '-production'])('what operators name alone is trusted and called%s', (suffix) => {
  expect(settingsOf(`standings${suffix}`).webhookPrivate).toBe('off');
  const [gateway, prefix] = [`gateway${suffix}`, suffix && 'PRODUCTION_'];
  const { subgraphHosts, trustedProxies } = settingsOf(gateway);
  expect([subgraphHosts, trustedProxies]).toEqual([['*.subgraphs.internal'], []]);
  const own = { [`${prefix}SUBGRAPH_HOSTS`]: 'offers:4021', TRUSTED_PROXIES: '172.18.0.1' };
  const named = settingsOf(gateway, { ...SECRETS, ...own });
  expect([named.subgraphHosts, named.trustedProxies?.length]).toEqual([['offers:4021'], 1]);
});

test.each(built)('%s has known settings with valid values, and memory for its heaps', (...each) => {
  const [name, { environment = {}, deploy }] = each;
  const known = [
    'NODE_OPTIONS',
    ...Object.values(SETTINGS).map((row) => row.name),
    ...OWN_SUBGRAPHS.map((subgraph) => variableOf(subgraph, 'url')),
  ];
  expect(Object.keys(environment).filter((variable) => !known.includes(variable))).toEqual([]);
  const isProduction = name.endsWith('-production');
  expect(settingsOf(name).environment).toBe(isProduction ? 'production' : 'sandbox');
  const heap = heapMegabytes(environment.NODE_OPTIONS, processOf(name) === 'gateway');
  expect(heap).toBeLessThan(Number.parseInt(deploy.resources.limits.memory, 10) * HEAP_PARTS);
});

test.each(built.filter(([name]) => !name.startsWith('loyalty')))(
  '%s has time to drain, and listens where its health check, others and its users connect',
  (name, service) => {
    const { host, port, adminPort, drainSeconds } = settingsOf(name);
    expect(drainSeconds).toBeGreaterThan(0);
    expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThanOrEqual(
      drainSeconds + CLOSING_SECONDS,
    );
    expect(host).toBe('0.0.0.0');
    expect(service.healthcheck?.test.join(' ')).toContain(`http://127.0.0.1:${adminPort}/readyz`);
    const published = processOf(name) === 'gateway' ? [`127.0.0.1:${port}:${port}`] : [];
    expect(service.ports ?? []).toEqual(published);
    for (const each of ['members', 'standings']) {
      const { url } = settingsOfSubgraph(settingsOf(name), each);
      if (url === undefined) continue;
      const { hostname, port: theirs } = new URL(url);
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
  for (const name of targets) {
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
])('everything that connects to MongoDB and Redis%s sends their passwords', (suffix, prefix) => {
  const resolved = (name: string, variable: string) =>
    interpolate(file.services[name + suffix]?.environment?.[variable] ?? '', SECRETS);
  const passwords: Record<string, string> = SECRETS;
  const [mongo, redis] = ['MONGO_PASSWORD', 'REDIS_PASSWORD'].map(
    (name) => passwords[prefix + name],
  );
  expect(resolved('mongo', 'MONGO_INITDB_ROOT_USERNAME')).toBe('loyalty');
  expect(resolved('mongo', 'MONGO_INITDB_ROOT_PASSWORD')).toBe(mongo);
  const { hostname: own, command } = file.services[`mongo${suffix}`] ?? {};
  expect(own).toBe(`mongo${suffix}`);
  expect(interpolate(command?.at(-1) ?? '', SECRETS)).toContain('--replSet loyalty --keyFile');
  expect(resolved('redis', 'REDISCLI_AUTH')).toBe(redis);
  for (const name of targets) {
    const { hostname, username, password } = new URL(resolved(name, 'MONGODB_URL'));
    expect([hostname, username, password]).toEqual([own, 'loyalty', mongo]);
  }
  const { hostname, password } = new URL(resolved('gateway', 'REDIS_URL'));
  expect([hostname, password]).toEqual([`redis${suffix}`, redis]);
});

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
  const flags = start.slice(1, -1);
  expect(flags).toEqual(
    target === 'loyalty'
      ? []
      : ['--no-allocation-site-pretenuring', '--heap-growing-percent=200', '--env-file=node.env'],
  );
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
