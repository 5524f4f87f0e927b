// A gateway in one process over memory whose features can be switched off one by one; only what they cost is measured with it.
// Run as: node --import tsx bench/features.ts '{"port":…,"on":["auth","limit","logs","metrics"],"redisUrl":"…","dataDir":"…"}'
import { readFileSync } from 'node:fs';
import { SUPERGRAPH_FILE } from '@partner-loyalty/gateway';
import { createMembers } from '@partner-loyalty/members';
import {
  createInProcessTransport,
  createLog,
  createMetrics,
  HEADERS,
  type HttpReply,
  type Metrics,
  pollDone,
  serveHttp,
} from '@partner-loyalty/runtime';
import { createStandings } from '@partner-loyalty/standings';
import { createHandler } from '../gateway/src/handle.ts';
import { createCors } from '../gateway/src/http/cors.ts';
import { type Authenticate, createAuthenticator } from '../gateway/src/identity/authenticate.ts';
import { createKeyring } from '../gateway/src/identity/keyring.ts';
import { openKeyStore } from '../gateway/src/identity/keystore.open.ts';
import { openCounters } from '../gateway/src/limits/counters.open.ts';
import { createLimiter, type Limiter } from '../gateway/src/limits/limiter.ts';
import { openSurface } from '../gateway/src/surface/surface.ts';
import { memoryMembers, memoryStandings } from './memory.ts';
import { PARTNER } from './population.ts';
import { MEMORY_MEMBERS } from './stage.ts';

export type Feature = 'auth' | 'limit' | 'logs' | 'metrics';

// Cast: parts/features.ts writes it.
const options = JSON.parse(process.argv[2] ?? '') as {
  port: number;
  on: Feature[];
  redisUrl?: string;
  dataDir: string;
};
const on = (feature: Feature) => options.on.includes(feature);

const log = createLog(on('logs') ? 'info' : 'silent');
const metrics = on('metrics') ? createMetrics() : noMetrics();
const transports = {
  members: createInProcessTransport(
    createMembers(memoryMembers(MEMORY_MEMBERS), {
      baseAddress: 'http://localhost:4000',
      wake: () => {},
    }),
    log,
    metrics,
  ),
  standings: createInProcessTransport(createStandings(memoryStandings()), log, metrics),
};
const supergraph = readFileSync(SUPERGRAPH_FILE, 'utf8');
const graphql = createHandler({
  authenticate: on('auth') ? await realAuth() : noAuth(),
  limiter: on('limit') ? await realLimiter() : noLimiter(),
  surfaces: {
    partner: openSurface('partner', supergraph, transports),
    member: openSurface('member', supergraph, transports),
  },
  cors: createCors([]),
  correctEndpoint: 'http://localhost:4001/graphql',
  log,
  metrics,
});
const handle = on('limit')
  ? graphql
  : async (request: Parameters<typeof graphql>[0]) => withoutLimitHeaders(await graphql(request));
await serveHttp({ port: options.port, host: '127.0.0.1', handle, trustedProxies: [], log });

async function realAuth(): Promise<Authenticate> {
  const store = await openKeyStore({ dataDir: options.dataDir, environment: 'sandbox' });
  const tokens = { verify: () => undefined };
  return createAuthenticator({
    environment: 'sandbox',
    keyring: createKeyring({ store, metrics }),
    tokens,
    keyBudget: 600,
  });
}

async function realLimiter(): Promise<Limiter> {
  return createLimiter(
    await openCounters({ redisUrl: options.redisUrl, environment: 'sandbox' }, false, log),
    60,
    metrics,
  );
}

function noAuth(): Authenticate {
  const scope = { kind: 'partner', partnerId: PARTNER } as const;
  const principal = {
    id: 'key',
    surface: 'partner',
    scope,
    budget: 1_000_000_000,
    policy: 'key',
  } as const;
  return () => ({ kind: 'principal', principal });
}

function noLimiter(): Limiter {
  const verdict = {
    policy: 'key',
    allowed: true,
    limit: 1,
    remaining: 1,
    resetSeconds: 1,
    windowSeconds: 1,
  } as const;
  // Requests wait for the end of their turn as they do with a limit, which is worth more than what a limit costs.
  const consume = () => pollDone().then(() => verdict);
  return { consume, consumeRefusal: consume };
}

// The handler writes the limit's headers from any verdict; they are part of what the limit costs.
function withoutLimitHeaders({ status, headers, body }: HttpReply): HttpReply {
  return {
    status,
    headers: {
      [HEADERS.contentType.name]: headers[HEADERS.contentType.name] ?? 'application/json',
    },
    body,
  };
}

function noMetrics(): Metrics {
  const ignore = () => undefined;
  const none = {
    request: ignore,
    subgraphCall: ignore,
    limit: ignore,
    keyCache: ignore,
    documentCache: ignore,
    mail: ignore,
  };
  return { ...none, text: async () => '', data: async () => [] };
}
