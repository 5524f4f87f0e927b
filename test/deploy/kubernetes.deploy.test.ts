// What the manifests of deploy/kubernetes promise, as far as building them shows it.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import {
  OWN_SUBGRAPHS,
  settingsOfSubgraph,
  variableOf,
} from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { type ProcessName, SETTINGS } from '@partner-loyalty/runtime/settings/table.ts';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import { Deployment } from 'kubernetes-models/apps/v1';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import type { ICronJob } from 'kubernetes-models/batch/v1';
import { CronJob } from 'kubernetes-models/batch/v1';
import type { IIngress, INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type {
  IConfigMap,
  IContainer,
  INamespace,
  IPersistentVolumeClaim,
  IService,
} from 'kubernetes-models/v1';
import { ConfigMap, Namespace, PersistentVolumeClaim, Service } from 'kubernetes-models/v1';
import { parse, parseAllDocuments } from 'yaml';
import { temporaryFolder } from '../support/folder.ts';
import { CLOSING_SECONDS, HEAP_PARTS, heapMegabytes } from '../support/limits.ts';

const ROOT = join(import.meta.dirname, '../..');
const README = readFileSync(join(ROOT, 'deploy/README.md'), 'utf8');
const ENVIRONMENTS = ['sandbox', 'production'] as const;
const FOLDER = join(ROOT, 'deploy/kubernetes');
const objectsOf = {
  sandbox: build(join(FOLDER, 'sandbox')),
  production: build(join(FOLDER, 'production')),
};
const NAME = 'app.kubernetes.io/name';
/** What the operator puts into the Secret. */
const SECRET: Record<string, string> = {
  MONGODB_URL: 'mongodb://loyalty:secret@mongodb/loyalty',
  REDIS_URL: 'redis://:secret@redis',
  MEMBERS_SECRET: 'secret of the members subgraph',
  STANDINGS_SECRET: 'secret of the standings subgraph',
  MEMBERS_SECRET_OLD: 'former secret of the members subgraph',
  STANDINGS_SECRET_OLD: 'former secret of the standings subgraph',
  KEY_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
  SMTP_URL: 'smtps://loyalty:secret@mail.example',
};
const jobs = ofKind(objectsOf.production, 'CronJob');

const each = ENVIRONMENTS.flatMap((environment) =>
  objectsOf[environment].map((object) => ({
    title: `${environment} ${object.kind} ${object.metadata.name}`,
    object,
  })),
);
const deployments = ENVIRONMENTS.flatMap((environment) =>
  ofKind(objectsOf[environment], 'Deployment').map((deployment) => ({
    name: deployment.metadata.name,
    environment,
    deployment,
  })),
);
const servers = deployments.filter(({ name }) => name !== 'loyalty');

test.each(each)('$title fits the schema of Kubernetes', ({ object }) => {
  expect(faultsOf(object)).toEqual([]);
});

test('the schemas refuse fields that are unknown, missing or of another type', () => {
  const [deployment] = ofKind(objectsOf.sandbox, 'Deployment');
  const changed = (change: (spec: Record<string, unknown>) => unknown) => {
    const copy = structuredClone(deployment);
    change(Object(copy?.spec));
    return faultsOf(copy ?? { apiVersion: '', kind: '' }).join();
  };
  expect(changed((spec) => Object.assign(spec, { replica: 1 }))).toContain(
    'unknown field /spec/replica',
  );
  expect(changed((spec) => delete spec.selector)).toContain('required property selector');
  expect(changed((spec) => Object.assign(spec, { replicas: 'x' }))).toContain('must be integer');
  expect(faultsOf({ apiVersion: 'apps/v1beta1', kind: 'Deployment' })).toHaveLength(1);
});

/** What the level `restricted` of pod security allows. */
const RESTRICTED = {
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: 1000,
    seccompProfile: { type: 'RuntimeDefault' },
  },
};
const UNPRIVILEGED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

test.each(deployments)('$environment $name runs restricted', ({ deployment }) => {
  expect(podOf(deployment)).toMatchObject(RESTRICTED);
  expect(containerOf(deployment).securityContext).toEqual(UNPRIVILEGED);
  for (const volume of podOf(deployment).volumes ?? [])
    expect(volume.emptyDir?.sizeLimit).toBeDefined();
});

test.each(ENVIRONMENTS)('the namespace of %s refuses pods that are not restricted', (name) => {
  const [namespace, ...others] = ofKind(objectsOf[name], 'Namespace');
  expect(others).toEqual([]);
  expect(namespace?.metadata).toMatchObject({
    name: `partner-loyalty-${name}`,
    labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
  });
});

test.each(deployments)('$environment $name has known settings with valid values', (row) => {
  const variables = Object.keys(environmentOf(row));
  const known = [
    'NODE_OPTIONS',
    ...Object.values(SETTINGS).map(({ name }) => name),
    ...OWN_SUBGRAPHS.flatMap((name) =>
      (['url', 'secret', 'secretOld'] as const).map((part) => variableOf(name, part)),
    ),
  ];
  expect(variables.filter((name) => !known.includes(name))).toEqual([]);
  expect(settingsOf(row).environment).toBe(row.environment);
});

test.each(deployments)('$environment $name has no secret of its own, but names one', (row) => {
  for (const { name, value, valueFrom } of containerOf(row.deployment).env ?? []) {
    if (SECRET[name] === undefined) expect(value).toBeDefined();
    else expect(valueFrom?.secretKeyRef).toMatchObject({ name: 'partner-loyalty', key: name });
    const isOptional = valueFrom?.secretKeyRef?.optional === true;
    if (isOptional) expect(name).toMatch(/_OLD$/);
    else if (valueFrom) expect(README).toContain(`--from-literal=${name}=`);
  }
});

test.each(servers)(
  '$environment $name trusts no proxy, calls nothing private, and logs its audit in production',
  (row) => {
    const { trustedProxies = [], webhookPrivate, auditLog } = settingsOf(row);
    expect([trustedProxies, webhookPrivate]).toEqual([[], 'off']);
    const isAudited = row.name === 'gateway' && row.environment === 'production';
    expect(auditLog).toBe(isAudited ? '-' : undefined);
    const rules = policiesOf(row.environment, row.name)
      .filter(({ metadata }) => metadata.name === 'webhooks')
      .flatMap(({ spec }) => spec?.egress ?? []);
    for (const { ipBlock } of rules.flatMap(({ to = [] }) => to))
      expect(ipBlock?.except).toContain(ipBlock?.cidr === '::/0' ? 'fc00::/7' : '10.0.0.0/8');
  },
);

test.each(servers)('$environment $name listens where its probes and its Service connect', (row) => {
  const { ports, startupProbe, livenessProbe, readinessProbe } = containerOf(row.deployment);
  const { host, port, adminPort } = settingsOf(row);
  expect(host).toBe('0.0.0.0');
  expect(ports).toEqual([
    { name: 'http', containerPort: port },
    { name: 'admin', containerPort: adminPort },
  ]);
  expect(startupProbe?.httpGet).toEqual({ path: '/livez', port: 'admin' });
  expect(livenessProbe?.httpGet).toEqual({ path: '/livez', port: 'admin' });
  expect(readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'admin' });
  const [service] = named(row, 'Service');
  expect(service?.spec?.selector).toEqual({ [NAME]: row.name });
  expect(service?.spec?.ports).toEqual([{ name: 'http', port, targetPort: 'http' }]);
});

test.each(ENVIRONMENTS)('the gateway of %s finds the subgraphs', (environment) => {
  const gateway = servers.find((row) => row.environment === environment && row.name === 'gateway');
  expect(gateway).toBeDefined();
  if (gateway === undefined) return;
  for (const name of OWN_SUBGRAPHS) {
    const { hostname, port } = new URL(settingsOfSubgraph(settingsOf(gateway), name).url ?? '');
    const [service] = named({ environment, name: hostname }, 'Service');
    expect(service?.spec?.ports?.map((each) => `${each.port}`)).toEqual([port]);
  }
});

test.each(servers)('$environment $name has time to drain, and memory for its heaps', (row) => {
  const { drainSeconds } = settingsOf(row);
  expect(drainSeconds).toBeGreaterThanOrEqual(5);
  expect(podOf(row.deployment).terminationGracePeriodSeconds).toBeGreaterThan(
    drainSeconds + CLOSING_SECONDS,
  );
  const options = environmentOf(row).NODE_OPTIONS ?? '';
  const image = /^NODE_OPTIONS=(.*)$/m.exec(readFileSync(join(ROOT, 'node.env'), 'utf8'))?.[1];
  expect(options.startsWith(`${image} `)).toBe(true);
  const { requests, limits } = containerOf(row.deployment).resources ?? {};
  const heap = heapMegabytes(options, row.name === 'gateway');
  expect(heap).toBeLessThan(mebibytes(limits?.memory) * HEAP_PARTS);
  expect(mebibytes(requests?.memory)).toBeLessThanOrEqual(mebibytes(limits?.memory));
  expect(requests?.cpu).toBeDefined();
});

test.each(servers)('$environment $name survives the loss of a node or a zone', (row) => {
  const { selector, template, replicas, strategy } = row.deployment.spec ?? {};
  expect(selector).toEqual({ matchLabels: { [NAME]: row.name } });
  expect(template?.metadata?.labels).toMatchObject({ [NAME]: row.name });
  const [budget] = named(row, 'PodDisruptionBudget');
  expect(budget?.spec).toMatchObject({ maxUnavailable: 1, selector });
  const [scaler] = named(row, 'HorizontalPodAutoscaler');
  expect(scaler?.spec?.scaleTargetRef).toEqual({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: row.name,
  });
  expect(replicas).toBeUndefined();
  expect(scaler?.spec?.minReplicas).toBe(row.environment === 'production' ? 3 : 2);
  expect(strategy?.rollingUpdate?.maxUnavailable).toBe(0);
  const spread = podOf(row.deployment).topologySpreadConstraints ?? [];
  expect(spread.map(({ topologyKey }) => topologyKey)).toEqual([
    'topology.kubernetes.io/zone',
    'kubernetes.io/hostname',
  ]);
  for (const { labelSelector } of spread) expect(labelSelector).toEqual(selector);
});

test.each(ENVIRONMENTS)('in %s, a pod accepts only the connections that it is for', (name) => {
  const peers = (pod: string) =>
    policiesOf(name, pod)
      .flatMap(({ spec }) => spec?.ingress ?? [])
      .map(({ from, ports }) => [ports?.map(({ port }) => port), from]);
  const namespace = (of: string) => ({
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': of } },
  });
  const pods = (of: string) => ({ podSelector: { matchLabels: { [NAME]: of } } });
  const scrape = [['admin'], [{ ...namespace('monitoring'), ...pods('prometheus') }]];
  expect(peers('gateway')).toEqual([[[4000], [namespace('ingress-nginx')]], scrape]);
  const callers = (...values: string[]) => ({
    podSelector: { matchExpressions: [{ key: NAME, operator: 'In', values }] },
  });
  expect(peers('members')).toEqual([
    [[4011], [callers('gateway', 'loyalty', 'standings')]],
    scrape,
  ]);
  expect(peers('standings')).toEqual([scrape, [[4012], [callers('gateway', 'loyalty')]]]);
  expect(peers('loyalty')).toEqual([]);
  const denied = ofKind(objectsOf[name], 'NetworkPolicy').find(
    ({ metadata }) => metadata.name === 'default-deny',
  );
  expect(denied?.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
});

test.each([
  ['gateway', [27017, 6379, 4011, 4012, 4318]],
  ['members', [27017, 465, 587, 4318]],
  ['standings', [27017, 4011, 4318, 443]],
  ['loyalty', [27017, 4011, 4012, 443]],
])('%s connects to nothing but what it needs', (pod, needed) => {
  for (const environment of ENVIRONMENTS) {
    const rules = policiesOf(environment, pod)
      .filter(({ metadata }) => metadata.name !== 'dns')
      .flatMap(({ spec }) => spec?.egress ?? []);
    const ports = rules.flatMap((rule) => rule.ports?.map(({ port }) => port) ?? []);
    expect(ports.sort()).toEqual([...needed].sort());
    const anywhere = rules.filter((rule) => rule.ports === undefined);
    expect(anywhere).toEqual(
      ['gateway', 'loyalty'].includes(pod)
        ? [{ to: [{ namespaceSelector: { matchLabels: { 'partner-loyalty/subgraph': 'true' } } }] }]
        : [],
    );
  }
});

test('an overlay adds the identity provider: then gateways also connect to port 443', () => {
  const folder = temporaryFolder();
  try {
    const [production, provider] = ['production', 'provider'].map((name) =>
      relative(folder.path, join(FOLDER, name)),
    );
    writeFileSync(
      join(folder.path, 'kustomization.yaml'),
      JSON.stringify({ resources: [production], components: [provider] }),
    );
    const built = ofKind(build(folder.path), 'NetworkPolicy');
    const before = ofKind(objectsOf.production, 'NetworkPolicy').map(
      ({ metadata }) => metadata.name,
    );
    const added = built.filter(({ metadata }) => !before.includes(metadata.name));
    expect(added.map(faultsOf)).toEqual([[]]);
    expect(added[0]?.spec).toEqual({
      podSelector: { matchLabels: { [NAME]: 'gateway' } },
      policyTypes: ['Egress'],
      egress: [{ ports: [{ port: 443 }] }],
    });
  } finally {
    folder.remove();
  }
});

test.each(jobs)('$metadata.name is a job that connects to MongoDB alone', ({ metadata, spec }) => {
  const pod = spec?.jobTemplate.spec?.template;
  const [container, ...others] = pod?.spec?.containers ?? [];
  expect(others).toEqual([]);
  expect(pod?.spec).toMatchObject(RESTRICTED);
  expect(container?.securityContext).toEqual(UNPRIVILEGED);
  const compose = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true });
  expect(container?.image).toBe(compose.services.mongo.image);
  expect(spec?.suspend ?? false).toBe(metadata.name === 'restore');
  const name = pod?.metadata?.labels?.[NAME] ?? '';
  const policies = policiesOf('production', name).filter(
    ({ metadata: { name } }) => name !== 'dns' && name !== 'default-deny',
  );
  expect(policies.map(({ metadata: { name } }) => name)).toEqual(['mongodb']);
});

test('a dump takes the place of old ones only when it is complete', () => {
  const folder = temporaryFolder();
  const [container] =
    jobs.find(({ metadata }) => metadata.name === 'backup')?.spec?.jobTemplate.spec?.template.spec
      ?.containers ?? [];
  const [, , script = ''] = container?.command ?? [];
  const file = (name: string, days: number) => {
    const path = join(folder.path, name);
    const seconds = Date.now() / 1_000 - days * 86_400;
    writeFileSync(path, '');
    utimesSync(path, seconds, seconds);
  };
  const dumps = () => readdirSync(folder.path).filter((name) => !name.includes('mongodump'));
  /** As in the container, with a `mongodump` that writes half of a dump and then ends. */
  const back = (up: 'ends' | 'fails') => {
    const exit = up === 'ends' ? 0 : 1;
    const fake = `#!/bin/sh\nfor last; do :; done; echo half > "\${last#--archive=}"; exit ${exit}\n`;
    writeFileSync(join(folder.path, 'mongodump'), fake, { mode: 0o755 });
    const here = script.replaceAll('/backups', folder.path).replaceAll('/tmp/url', '$TMPDIR/url');
    const env = {
      PATH: `${folder.path}:${process.env.PATH}`,
      TMPDIR: folder.path,
      BACKUP_URL: 'mongodb://backup@mongodb',
      KEEP_DAYS: container?.env?.find(({ name }) => name === 'KEEP_DAYS')?.value,
    };
    return spawnSync('sh', ['-euc', here], { env }).status;
  };
  try {
    file('2026-01-01.archive.gz', 20);
    file('2026-01-20.archive.gz', 1);
    expect(back('fails')).toBe(1);
    expect(dumps().filter((name) => name.endsWith('.gz'))).toEqual([
      '2026-01-01.archive.gz',
      '2026-01-20.archive.gz',
    ]);
    expect(back('ends')).toBe(0);
    const kept = dumps().filter((name) => name !== 'url.yaml');
    expect(kept).toEqual(['2026-01-20.archive.gz', expect.stringMatching(/^\d.*\.archive\.gz$/)]);
  } finally {
    folder.remove();
  }
});

test('the environments share no namespace, and neither reaches the databases of the other', () => {
  for (const [own, other] of [
    ['sandbox', 'production'],
    ['production', 'sandbox'],
  ] as const) {
    const text = JSON.stringify(objectsOf[own]);
    expect(text).not.toContain(`partner-loyalty-${other}`);
    const policies = JSON.stringify(ofKind(objectsOf[own], 'NetworkPolicy'));
    expect(policies).toContain(`partner-loyalty-${own}-data`);
    for (const { kind, metadata } of objectsOf[own])
      if (kind !== 'Namespace')
        expect(metadata).toHaveProperty('namespace', `partner-loyalty-${own}`);
  }
});

test.each(ENVIRONMENTS)('callers reach %s over TLS, at its base URL', (environment) => {
  const [ingress] = ofKind(objectsOf[environment], 'Ingress');
  const gateway = servers.find((row) => row.environment === environment);
  if (gateway === undefined) throw new Error('no gateway');
  const { sandboxUrl, productionUrl } = settingsOf(gateway);
  const base = new URL(environment === 'sandbox' ? sandboxUrl : productionUrl);
  expect(base.protocol).toBe('https:');
  expect(ingress?.spec?.tls?.flatMap(({ hosts }) => hosts)).toEqual([base.hostname]);
  expect(ingress?.spec?.rules?.map(({ host }) => host)).toEqual([base.hostname]);
  const backends = ingress?.spec?.rules?.flatMap(({ http }) => http?.paths ?? []) ?? [];
  expect(backends.map(({ backend }) => backend.service)).toEqual([
    { name: 'gateway', port: { name: 'http' } },
  ]);
});

type Row = { name: string; environment: (typeof ENVIRONMENTS)[number]; deployment: DeploymentOf };
type DeploymentOf = Objects['Deployment'] & Built;

function podOf(deployment: DeploymentOf) {
  const pod = deployment.spec?.template.spec;
  if (!pod) throw new Error('a Deployment without pods');
  return pod;
}

function containerOf(deployment: DeploymentOf): IContainer {
  const [container, ...others] = podOf(deployment).containers;
  if (!container || others.length > 0) throw new Error('a pod without its one container');
  return container;
}

/** A container's variables, with the Secret and the ConfigMap. */
function environmentOf({ environment, deployment }: Row): Record<string, string> {
  const { env = [], envFrom = [] } = containerOf(deployment);
  const maps = ofKind(objectsOf[environment], 'ConfigMap');
  const shared = envFrom.map(({ configMapRef, secretRef }) => {
    if (secretRef?.optional === true) return {};
    const map = maps.find(({ metadata }) => metadata.name === configMapRef?.name);
    if (map?.data === undefined) throw new Error(`no ConfigMap ${configMapRef?.name}`);
    return map.data;
  });
  const own = env.map(({ name, value, valueFrom }) => [
    name,
    value ?? SECRET[valueFrom?.secretKeyRef?.key ?? ''] ?? '',
  ]);
  return Object.assign({}, ...shared, Object.fromEntries(own));
}

function settingsOf(row: Row) {
  // The command reads the settings that a process reads that runs everything.
  const process: ProcessName = row.name === 'loyalty' ? 'all' : (row.name as ProcessName);
  return readSettings(environmentOf(row), process);
}

function named<Kind extends keyof Objects>(row: Pick<Row, 'environment' | 'name'>, kind: Kind) {
  return ofKind(objectsOf[row.environment], kind).filter(
    ({ metadata }) => metadata.name === row.name,
  );
}

/** The NetworkPolicies that select the pods of a Deployment. */
function policiesOf(environment: Row['environment'], pod: string) {
  return ofKind(objectsOf[environment], 'NetworkPolicy').filter(({ spec }) => {
    const { matchLabels = {}, matchExpressions = [] } = spec?.podSelector ?? {};
    const names = Object.values(matchLabels);
    return (
      names.every((name) => name === pod) &&
      matchExpressions.every(({ values }) => values?.includes(pod))
    );
  });
}

function mebibytes(quantity: unknown): number {
  return Number(/^(\d+)Mi$/.exec(String(quantity))?.[1]);
}

// Objects, built with kustomize and checked by their schemas.

type Objects = {
  ConfigMap: IConfigMap;
  CronJob: ICronJob;
  Deployment: IDeployment;
  HorizontalPodAutoscaler: IHorizontalPodAutoscaler;
  Ingress: IIngress;
  Namespace: INamespace;
  NetworkPolicy: INetworkPolicy;
  PersistentVolumeClaim: IPersistentVolumeClaim;
  PodDisruptionBudget: IPodDisruptionBudget;
  Service: IService;
};
type Built = { apiVersion: string; kind: string; metadata: { name: string } };

/** Every object of a kustomization. Throws if kustomize warns, as it does of deprecated fields. */
function build(folder: string): Built[] {
  const { stdout, stderr } = spawnSync('kubectl', ['kustomize', folder], { encoding: 'utf8' });
  if (stderr !== '') throw new Error(stderr);
  return parseAllDocuments(stdout).map((document) => document.toJSON());
}

function ofKind<Kind extends keyof Objects>(
  objects: readonly Built[],
  kind: Kind,
): (Objects[Kind] & Built)[] {
  // Cast: a test checks every object against the schema of its kind.
  return objects.filter((object) => object.kind === kind) as (Objects[Kind] & Built)[];
}

const MODELS = [
  ConfigMap,
  CronJob,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Namespace,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Service,
];

/** What is wrong with an object: what its schema refuses, and the paths that it does not have. */
function faultsOf(object: { apiVersion: string; kind: string }): string[] {
  const { apiVersion, kind } = object;
  const model = MODELS.find((each) => each.kind === kind && each.apiVersion === apiVersion);
  if (model === undefined) return [`no schema for ${apiVersion} ${kind}`];
  const unread = new Set<string>();
  const watched = watch(object, '', unread);
  try {
    model.prototype.validate.call(watched);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
  return Array.from(unread, (path) => `unknown field ${path}`);
}

/**
 * The schemas allow unknown fields, but their validators read each known one. So what they never
 * read is unknown. Adds the paths in `value` to `unread`, and deletes those that are read.
 */
function watch<Value extends object>(value: Value, path: string, unread: Set<string>): Value {
  const children = new Map<PropertyKey, unknown>();
  for (const [key, child] of Object.entries(value)) {
    const childPath = `${path}/${key}`;
    unread.add(childPath);
    const isTree = typeof child === 'object' && child !== null;
    children.set(key, isTree ? watch(child, childPath, unread) : child);
  }
  return new Proxy(value, {
    get(target, key) {
      unread.delete(`${path}/${String(key)}`);
      return children.get(key) ?? Reflect.get(target, key);
    },
  });
}
