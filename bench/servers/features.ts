// A gateway over memory, in one process with its subgraphs, with the features that options name.
import { createMembers } from '@partner-loyalty/members';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { pollDone } from '@partner-loyalty/runtime/eventloop/afterpoll.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { serveHttp } from '@partner-loyalty/runtime/http/server.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics, METRICS, type Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Tracing } from '@partner-loyalty/runtime/observe/tracing/trace.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { createInProcessTransport } from '@partner-loyalty/runtime/subgraph/inprocess.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { createStandings } from '@partner-loyalty/standings';
import { openAudit } from '../../extensions/audit/src/audit.ts';
import { createKeyUseCounter } from '../../extensions/usage/src/keyuse.ts';
import { createRequestRecorder } from '../../extensions/usage/src/recorder.ts';
import { createLimiter, type Limiter } from '../../gateway/src/budget/limiter.ts';
import { createRefusals } from '../../gateway/src/budget/refusals.ts';
import { createDocuments } from '../../gateway/src/document/documents.ts';
import { createCors, GRAPHQL_CORS } from '../../gateway/src/edge/cors.ts';
import { createObserveRequest } from '../../gateway/src/edge/requestline.ts';
import { readGraphFile, SUPERGRAPH_FILE } from '../../gateway/src/graph/committed.ts';
import { createConnections } from '../../gateway/src/graph/connections.ts';
import { serveGraphs } from '../../gateway/src/graph/served.ts';
import { handle } from '../../gateway/src/handle.ts';
import { type Authenticate, createAuthenticator } from '../../gateway/src/identity/authenticate.ts';
import { createKeyring } from '../../gateway/src/identity/keyring.ts';
import { createShared } from '../../gateway/src/operate.ts';
import { EVERY_SCOPE } from '../../gateway/src/schema/scopes.ts';
import { openCounters, openKeyStore } from '../../gateway/src/stores.ts';
import type { UsageCounter } from '../../gateway/src/usage/usage.ts';
import type { HttpRequest } from '../../runtime/src/http/request.ts';
import { memoryMembers, memoryStandings } from '../dataset/memory.ts';
import { MEMORY_MEMBERS, PARTNER } from '../dataset/population.ts';

/** `callers` are the metrics by operation and by partner, `metrics` are all of them. */
export type Feature =
  | 'auth'
  | 'limit'
  | 'logs'
  | 'metrics'
  | 'callers'
  | 'keyUse'
  | 'records'
  | 'bounds';

/** Where traces go, and the part of the requests that are recorded. */
export type Traced = { endpoint: string; ratio: number };

type Options = {
  port: number;
  on: Feature[];
  redisUrl?: string;
  dataDir: string;
  traced?: Traced;
  /** The file of the audit log. */
  auditLog: string | undefined;
};

// Cast: parts/features.ts writes the options.
const options = JSON.parse(process.argv[2] ?? '') as Options;
const isOn = (feature: Feature) => options.on.includes(feature);

const log = createLog(isOn('logs') ? 'info' : 'silent');
const metrics = chosenMetrics();
const audit = openAudit(options, { log, metrics });
const caches = createCaches();
const nothing: Transport = {
  execute: () => ({ data: null }),
  ready: async () => {},
  close: async () => {},
};
const noMail = { baseAddress: 'http://localhost:4000', wake: () => {} };
const transports = {
  gateway: nothing,
  members: createInProcessTransport(
    createMembers(memoryMembers(MEMORY_MEMBERS), noMail),
    log,
    caches,
    metrics,
  ),
  standings: createInProcessTransport(createStandings(memoryStandings()), log, caches, metrics),
};
const documents = createDocuments(caches, metrics);
const connections = createConnections({
  settings: readSettings({}, 'all'),
  inProcess: transports,
  log,
  metrics,
});
const graph = await readGraphFile(SUPERGRAPH_FILE);
const limiter = isOn('limit') ? await shippedLimiter() : noLimiter();
const graphs = await serveGraphs(graph, {
  connections,
  documents,
  caches,
  audits: audit !== undefined,
});
const keyUse = isOn('keyUse') && createKeyUseCounter({ addKeyUses: async () => {} }, { log });
const records = isOn('records') && createRequestRecorder({ addRequests: async () => {} }, { log });
const usage: UsageCounter = {
  count() {},
  ended(partnerId, request, budgetUsed) {
    if (keyUse && request.keyId !== undefined) keyUse.count(request.keyId, request.status);
    if (records) records.note(partnerId, request, budgetUsed);
  },
};
const observed = {
  graphs,
  usage,
  logClientAddress: 'masked',
  log,
  metrics,
} as const;
const context = {
  ...createShared(),
  ...{ limiter, graphs, documents, usage, audit, log },
  authenticate: isOn('auth') ? await keyAuth() : noAuth(),
  observe: createObserveRequest(observed),
  cors: createCors([], GRAPHQL_CORS),
  correctEndpoint: 'http://localhost:4001/graphql',
  tracing: options.traced && (await traceTo(options.traced)),
};
const graphql = (request: HttpRequest) => handle(context, request);
const served = isOn('limit')
  ? graphql
  : async (request: HttpRequest) => withoutLimitHeaders(await graphql(request));
await serveHttp({
  port: options.port,
  host: '127.0.0.1',
  handle: served,
  trustedProxies: [],
  ...(isOn('bounds') && { limits: { maxConnections: 4_096, maxConnectionsPerAddress: 512 } }),
  log,
});

async function traceTo({ endpoint, ratio }: Traced): Promise<Tracing> {
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = endpoint;
  const { createTracing } = await import('../../runtime/src/observe/tracing/otel.ts');
  const env = { OTEL_TRACES_SAMPLER_ARG: String(ratio) };
  return createTracing({ serviceName: 'bench', version: '0', env, log });
}

async function keyAuth(): Promise<Authenticate> {
  const store = await openKeyStore({ dataDir: options.dataDir, environment: 'sandbox' });
  return createAuthenticator({
    environment: 'sandbox',
    keyring: createKeyring({ store, caches, metrics, log, refusals: createRefusals(60) }),
    tokens: { verify: () => 'unknown' },
    isSuspended: () => false,
    isOver: () => false,
    keyBudget: 600,
  });
}

async function shippedLimiter(): Promise<Limiter> {
  const { redisUrl } = options;
  const counters = await openCounters({ redisUrl, environment: 'sandbox' }, log);
  return createLimiter(counters, 60, metrics);
}

function noAuth(): Authenticate {
  const caller = { kind: 'partner', partnerId: PARTNER } as const;
  const principal = {
    id: 'key',
    surface: 'partner',
    caller,
    budget: 1_000_000_000,
    policy: 'key',
    scopes: EVERY_SCOPE,
    owner: PARTNER,
    isSuspended: false,
  } as const;
  return () => ({ kind: 'principal', principal });
}

function noLimiter(): Omit<Limiter, 'refusals' | 'pages'> {
  const verdict = {
    policy: 'key',
    allowed: true,
    limit: 1,
    remaining: 1,
    resetSeconds: 1,
    windowSeconds: 1,
  } as const;
  // Requests wait for the end of the poll phase, as they do with a limiter. Waiting saves more than
  // a limiter costs, so a row without it would not be comparable.
  const consume = () => pollDone().then(() => verdict);
  const counts = { consumeRefusal: consume, consumePage: consume, consumeApp: consume };
  const ofOthers = { consumeSession: consume, consumeStaff: consume, consumeRegistry: consume };
  return { consume, ...counts, ...ofOthers, hasPlenty: () => false };
}

// The handler writes RateLimit headers for any verdict. They are part of the limiter's cost.
function withoutLimitHeaders({ headers, ...reply }: HttpResponse): HttpResponse {
  const contentType = 'content-type';
  const own = { [contentType]: headers[contentType] ?? 'application/json' };
  // The observer, which writes the log line, has to stay.
  return { ...reply, headers: own };
}

function chosenMetrics(): Metrics {
  if (isOn('metrics')) return createMetrics();
  if (!isOn('callers')) return noMetrics();
  const { executed, partner, budgetUsed } = createMetrics();
  return { ...noMetrics(), executed, partner, budgetUsed };
}

function noMetrics(): Metrics {
  const ignore = () => undefined;
  const methods = Object.fromEntries(Object.keys(METRICS).map((name) => [name, ignore]));
  // Cast: these are all rows of the table.
  return { ...methods, text: async () => '' } as unknown as Metrics;
}
