// Every setting of the project, one row each (docs/operators/running.md, Settings).
import { resolve } from 'node:path';
import * as z from 'zod';
import type { Environment } from '../environment.ts';
import { ownCommit } from '../version.ts';
import {
  baseUrl,
  browserOrigin,
  cidrRange,
  connection,
  hostOrRange,
  integer,
  list,
  matching,
  oneOf,
  redisUrl,
  webUrl,
} from './schemas.ts';
import type { OWN_SUBGRAPHS, WithSubgraphs } from './subgraphs.ts';

/** Which process reads the settings: all parts in one, only the gateway, or only a subgraph. */
export type ProcessName = 'all' | 'gateway' | (typeof OWN_SUBGRAPHS)[number];

/** A variable that nothing reads, and the setting that was probably meant. */
export type Misspelled = { name: string; meant: string; isSet: boolean };

type Row<T> = {
  name: string;
  /** The default as the documentation shows it. */
  default: string;
  meaning: string;
  /** The processes that read it, unless all do. The others ignore it, even if it is wrong. */
  usedBy?: readonly ProcessName[];
  /** Set if the value may contain a password, so that no message repeats it. */
  secret?: true;
  /** Turns the text of the variable into the value. */
  schema: z.ZodType<T, string>;
};

/** The value if the variable is not set. `known` has the values of the rows above. */
type Fallback<T> = (known: Known, process: ProcessName) => T;

/** What fallbacks use. */
type Known = {
  environment: Environment;
  port: number;
  host: string;
  sandboxUrl: string;
  productionUrl: string;
};

export type SettingRow = Row<unknown> & { fallback?: Fallback<unknown> };

/** A setting that always has a value. */
function required<const T>(row: Row<T> & { fallback: Fallback<T> }) {
  return row;
}

const GATEWAY: readonly ProcessName[] = ['all', 'gateway'];
/** It reads the settings of all parts. */
const COMMAND: readonly ProcessName[] = ['all'];
const MEMBERS: readonly ProcessName[] = ['all', 'members'];
const STANDINGS: readonly ProcessName[] = ['all', 'standings'];
const IDENTITY: readonly ProcessName[] = ['all', 'gateway', 'members'];
/** The folder of the project; for an installed command, the current folder. */
const ROOT = import.meta.dirname.includes('node_modules')
  ? process.cwd()
  : resolve(import.meta.dirname, '../../..');

/** A host as URLs have it; one that stands for all addresses is localhost. */
export function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Whether a host, as HOST or a URL has it, stands for this machine only. */
export function isLoopback(host: string): boolean {
  return /^(127\.[\d.]+|\[?::1\]?|localhost|.+\.localhost)$/.test(host);
}

/** A base URL that a token may be sent to: https, or http that stays on this machine. */
export const registryUrl = baseUrl.refine(
  (url) => url.startsWith('https:') || isLoopback(new URL(url).hostname),
  'must be an https URL, or http on the loopback address',
);

// Only a process that runs everything knows the gateway's port. Separate processes need a setting.
function defaultBaseUrl(
  wanted: Environment,
  defaultPort: number,
  { environment, host, port }: Known,
  process: ProcessName,
): string {
  if (process !== 'all' || wanted !== environment || port === 0)
    return `http://localhost:${defaultPort}`;
  return `http://${host === '127.0.0.1' ? 'localhost' : hostInUrl(host)}:${port}`;
}

/** In the order of the documentation. A fallback can use the values of the rows above it. */
export const SETTINGS = {
  environment: required({
    name: 'ENVIRONMENT',
    default: 'sandbox',
    meaning: '`sandbox` (accepts `pk_test_` keys) or `production` (accepts `pk_live_` keys).',
    schema: oneOf('sandbox', 'production'),
    fallback: () => 'sandbox',
  }),
  port: required({
    name: 'PORT',
    default: '4000 sandbox, 4001 production, 4011 members, 4012 standings',
    meaning: 'The port for clients; 0 takes any free port.',
    schema: integer(0, 65_535),
    fallback: ({ environment }, process) => {
      if (process === 'members') return 4011;
      if (process === 'standings') return 4012;
      return environment === 'sandbox' ? 4000 : 4001;
    },
  }),
  host: required({
    name: 'HOST',
    default: '127.0.0.1',
    meaning: 'The address that the process listens on.',
    schema: matching(/^[\w.:%-]{1,253}$/, 'be a host name or an address'),
    fallback: () => '127.0.0.1',
  }),
  sandboxUrl: required({
    name: 'SANDBOX_URL',
    default: 'http://localhost:4000; in one process, HOST and PORT of the sandbox',
    meaning: 'The base URL of the sandbox.',
    schema: baseUrl,
    fallback: (known, process) => defaultBaseUrl('sandbox', 4000, known, process),
  }),
  productionUrl: required({
    name: 'PRODUCTION_URL',
    default: 'http://localhost:4001; in one process, HOST and PORT of production',
    meaning: 'The base URL of production.',
    schema: baseUrl,
    fallback: (known, process) => defaultBaseUrl('production', 4001, known, process),
  }),
  mongodbUrl: {
    name: 'MONGODB_URL',
    default: 'none: embedded store',
    meaning: 'MongoDB, which stores everything in the database that the URL names, else `loyalty`.',
    secret: true,
    schema: connection('mongodb', 'mongodb+srv'),
  },
  redisUrl: {
    name: 'REDIS_URL',
    default: 'none: counted in memory',
    meaning:
      'Redis, which counts the budgets of all processes together: one server, or a cluster as `redis+cluster://host:port,host:port`.',
    usedBy: GATEWAY,
    secret: true,
    schema: redisUrl,
  },
  dataDir: required({
    name: 'DATA_DIR',
    default: '`data/sandbox` or `data/production`',
    meaning:
      'The folder of the embedded store, relative to the root of the project, or to the current folder of the command as a package.',
    schema: z.string().transform((path) => resolve(ROOT, path)),
    fallback: ({ environment }) => resolve(ROOT, 'data', environment),
  }),
  rateLimitBudget: required({
    name: 'RATE_LIMIT_BUDGET',
    default: '600',
    meaning:
      "The root fields that a key may use per window; a partner's own budget takes precedence.",
    usedBy: GATEWAY,
    schema: integer(1, 1_000_000_000),
    fallback: () => 600,
  }),
  rateLimitWindowSeconds: required({
    name: 'RATE_LIMIT_WINDOW_SECONDS',
    default: '60',
    meaning: 'The length of the window, in seconds.',
    usedBy: GATEWAY,
    schema: integer(1, 86_400),
    fallback: () => 60,
  }),
  supergraphFile: {
    name: 'SUPERGRAPH_FILE',
    default: 'none: what is published, or else `gateway/supergraph.graphql`',
    meaning: 'A supergraph to serve instead; the gateway follows every change of the file.',
    usedBy: GATEWAY,
    schema: z.string().transform((path) => resolve(ROOT, path)),
  },
  subgraphSecret: {
    name: 'SUBGRAPH_SECRET',
    default: 'none; required if members or standings runs as a service',
    meaning:
      "Signs the requests from the gateway to this repository's subgraphs that have no secret of their own; at least 16 characters.",
    secret: true,
    schema: matching(/^.{16,}$/su, 'have at least 16 characters'),
  },
  subgraphSecretOld: {
    name: 'SUBGRAPH_SECRET_OLD',
    default: 'none',
    meaning: 'The previous secret, which subgraphs also accept while the secret is being changed.',
    secret: true,
    schema: matching(/^.{16,}$/su, 'have at least 16 characters'),
  },
  subgraphHosts: {
    name: 'SUBGRAPH_HOSTS',
    default:
      'none: a sandbox whose base URL is on the loopback address calls any host, others call public addresses by https',
    meaning:
      'Where [published](teams.md#other-teams-subgraphs) subgraphs may also be: hosts, `*.suffix`, `host:port` and CIDR ranges, separated by commas. A listed host may have a private address and plain http; link-local addresses are never called.',
    usedBy: GATEWAY,
    schema: list(hostOrRange),
  },
  idTokenIssuer: {
    name: 'ID_TOKEN_ISSUER',
    default: 'the service itself',
    meaning: 'The `iss` of an external identity provider; set it together with the audience.',
    usedBy: IDENTITY,
    schema: matching(/^\S+$/, 'not contain spaces'),
  },
  idTokenAudience: {
    name: 'ID_TOKEN_AUDIENCE',
    default: 'the service itself',
    meaning: "What each `aud` of the provider's tokens has to be: one or several, with commas.",
    usedBy: IDENTITY,
    schema: list(matching(/^\S+$/, 'not contain spaces')),
  },
  idTokenJwksUrl: {
    name: 'ID_TOKEN_JWKS_URL',
    default: 'discovered at the issuer',
    meaning: "The URL of the provider's public keys.",
    usedBy: IDENTITY,
    schema: webUrl,
  },
  idTokenMemberClaim: required({
    name: 'ID_TOKEN_MEMBER_CLAIM',
    default: '`sub`',
    meaning: 'The claim that holds the member ID.',
    usedBy: IDENTITY,
    schema: matching(/^\S+$/, 'not contain spaces'),
    fallback: () => 'sub',
  }),
  keyEncryptionKey: {
    name: 'KEY_ENCRYPTION_KEY',
    default: 'none: they are stored as they are',
    meaning:
      'Encrypts the private signing keys of the built-in identity provider, and the secrets of [webhooks](../callers/webhooks.md) and of [subgraphs](../teams/publishing.md#secrets), which production refuses without it; 32 bytes in Base64.',
    secret: true,
    schema: matching(/^[A-Za-z0-9+/]{43}=$/, 'be 32 bytes in Base64'),
  },
  smtpUrl: {
    name: 'SMTP_URL',
    default: 'none: `.eml` files in `DATA_DIR/outbox`',
    meaning: 'The mail server.',
    usedBy: MEMBERS,
    secret: true,
    schema: connection('smtp', 'smtps'),
  },
  mailFrom: required({
    name: 'MAIL_FROM',
    default: '`no-reply@` and the host of the base URL',
    meaning: 'The sender of mail.',
    usedBy: MEMBERS,
    schema: matching(
      /^([^<>\r\n]* <[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/,
      'be a mail address',
    ),
    fallback: ({ environment, sandboxUrl, productionUrl }) =>
      `no-reply@${new URL(environment === 'sandbox' ? sandboxUrl : productionUrl).hostname}`,
  }),
  trustedProxies: required({
    name: 'TRUSTED_PROXIES',
    default: 'none',
    meaning:
      'Addresses and CIDR ranges of proxies whose `x-forwarded-for` is trusted, separated by commas.',
    usedBy: GATEWAY,
    schema: list(cidrRange),
    fallback: (): string[] => [],
  }),
  corsOrigins: required({
    name: 'CORS_ORIGINS',
    default: 'none',
    meaning:
      'Origins whose pages may call the API with a bearer token, and `/mcp` with its key, separated by commas; of hybrid apps `capacitor://`, `ionic://` or `tauri://` and a host.',
    usedBy: GATEWAY,
    schema: list(browserOrigin),
    fallback: (): string[] => [],
  }),
  auditLog: {
    name: 'AUDIT_LOG',
    default: 'none: no audit log',
    meaning:
      'The file that gets a line for each member that a partner was shown or changed, relative to the root of the project; `-` is stdout.',
    usedBy: GATEWAY,
    schema: z.string().transform((path) => (path === '-' ? path : resolve(ROOT, path))),
  },
  eventRetentionDays: required({
    name: 'EVENT_RETENTION_DAYS',
    default: '30',
    meaning:
      'How many days [events](../callers/events.md) are kept, in addition to the day on which they occurred.',
    usedBy: STANDINGS,
    schema: integer(1, 366),
    fallback: () => 30,
  }),
  webhookDelivery: required({
    name: 'WEBHOOK_DELIVERY',
    default: '`on`',
    meaning: 'Whether this process sends [webhooks](../callers/webhooks.md): `on` or `off`.',
    usedBy: STANDINGS,
    schema: oneOf('on', 'off'),
    fallback: () => 'on',
  }),
  webhookPrivate: required({
    name: 'WEBHOOK_PRIVATE',
    default: '`on` in a sandbox whose base URL is on the loopback address, else `off`',
    meaning:
      'Whether [webhooks](../callers/webhooks.md) may also go to private addresses, and by plain http: `on` or `off`; never `on` in production.',
    usedBy: STANDINGS,
    schema: oneOf('on', 'off'),
    fallback: ({ environment, sandboxUrl }) =>
      environment === 'sandbox' && isLoopback(new URL(sandboxUrl).hostname) ? 'on' : 'off',
  }),
  explorer: required({
    name: 'EXPLORER',
    default: '`on` in the sandbox, `off` in production',
    meaning:
      'Whether to serve `/explorer`, a page for trying operations with a key: `on` or `off`.',
    usedBy: GATEWAY,
    schema: oneOf('on', 'off'),
    fallback: ({ environment }) => (environment === 'sandbox' ? 'on' : 'off'),
  }),
  console: required({
    name: 'CONSOLE',
    default: '`on`',
    meaning: "Whether to serve `/console` to partners' [staff](partners.md#staff): `on` or `off`.",
    usedBy: GATEWAY,
    schema: oneOf('on', 'off'),
    fallback: () => 'on',
  }),
  logLevel: required({
    name: 'LOG_LEVEL',
    default: 'info',
    meaning: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
    schema: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    fallback: () => 'info',
  }),
  logClientAddress: required({
    name: 'LOG_CLIENT_ADDRESS',
    default: '`masked`',
    meaning:
      'How the log shows the client address of a request without a valid credential: `masked`, which is the /24 of an IPv4 address and the /48 of an IPv6 address, or `full`.',
    usedBy: GATEWAY,
    schema: oneOf('masked', 'full'),
    fallback: () => 'masked',
  }),
  adminPort: required({
    name: 'ADMIN_PORT',
    default: 'PORT + 10000',
    meaning:
      'The port for `/livez`, `/readyz` and `/metrics`; any free port if PORT is 0 or above 55535.',
    schema: integer(0, 65_535),
    fallback: ({ port }) => (port === 0 || port + 10_000 > 65_535 ? 0 : port + 10_000),
  }),
  maxConnections: required({
    name: 'MAX_CONNECTIONS',
    default: '4096',
    meaning: 'How many connections to PORT a process accepts at a time.',
    usedBy: GATEWAY,
    schema: integer(1, 1_000_000),
    fallback: () => 4_096,
  }),
  maxConnectionsPerAddress: required({
    name: 'MAX_CONNECTIONS_PER_ADDRESS',
    default: '512',
    meaning:
      'How many of them one client address may have; for IPv6, one /64. TRUSTED_PROXIES are exempt.',
    usedBy: GATEWAY,
    schema: integer(1, 1_000_000),
    fallback: () => 512,
  }),
  drainSeconds: required({
    name: 'DRAIN_SECONDS',
    default: '2 for a gateway as a service of its own, or else 0',
    meaning:
      'How long new connections are still served after SIGTERM, while `/readyz` already answers 503.',
    schema: integer(0, 3_600),
    fallback: (_, process) => (process === 'gateway' ? 2 : 0),
  }),
  otlpEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    default: 'none: no tracing',
    meaning:
      'Where [traces](observing.md#tracing) go, by OTLP over HTTP. The other standard `OTEL_` variables apply to them too.',
    schema: webUrl,
  },
  registry: {
    name: 'LOYALTY_REGISTRY',
    default: 'none: the store',
    meaning:
      'The base URL of the service through which `loyalty supergraph` [publishes](../teams/publishing.md#publishing) for a team; only the command reads it.',
    usedBy: COMMAND,
    schema: registryUrl,
  },
  subgraphToken: {
    name: 'LOYALTY_SUBGRAPH_TOKEN',
    default: 'none',
    meaning: "The team's token for it; only the command reads it.",
    usedBy: COMMAND,
    secret: true,
    schema: matching(/^[\x21-\x7e]{1,200}$/, 'be what loyalty supergraph token create printed'),
  },
  commit: required({
    name: 'COMMIT',
    default: 'that of the clone or package, or else `unknown`',
    meaning:
      'The commit that the service was built from, for the log, `loyalty_build_info` and `loyalty --version`. The images have it.',
    schema: matching(/^[\w.-]{1,64}$/, 'have at most 64 letters, digits, dots and dashes'),
    fallback: ownCommit,
  }),
} satisfies Record<string, SettingRow>;

type Rows = typeof SETTINGS;
type RequiredKey = {
  [Key in keyof Rows]: Rows[Key] extends { fallback: unknown } ? Key : never;
}[keyof Rows];

/** The values. The issuer and the audience of ID tokens are both set or both unset. */
export type Settings = WithSubgraphs & {
  [Key in RequiredKey]: z.output<Rows[Key]['schema']>;
} & {
  [Key in Exclude<keyof Rows, RequiredKey>]?: z.output<Rows[Key]['schema']> | undefined;
} & {
  /** Whether the base URL of this environment is set, rather than a default. */
  hasBaseUrl: boolean;
  /** The same of the other environment. */
  hasOtherBaseUrl: boolean;
  misspelled: readonly Misspelled[];
};
