// The registry over HTTP, below /registry/: each request has a token, and a bounded body.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Audit } from '@partner-loyalty/gateway/audit.ts';
import type { Limiter } from '@partner-loyalty/gateway/budget/limiter.ts';
import { parseJson, requireJson } from '@partner-loyalty/gateway/edge/body.ts';
import { logMasked } from '@partner-loyalty/gateway/edge/endpoint.ts';
import type { GraphStore } from '@partner-loyalty/gateway/graph/graph.ts';
import type { SubgraphToken } from '@partner-loyalty/gateway/graph/tables.ts';
import { bearerToken } from '@partner-loyalty/gateway/identity/authenticate.ts';
import type { UsageCounts } from '@partner-loyalty/gateway/usage/usage.ts';
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import { ApiError, extensionsOf, fail } from '@partner-loyalty/runtime/errors.ts';
import { createPlaces } from '@partner-loyalty/runtime/eventloop/places.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { utf8Text } from '@partner-loyalty/runtime/input.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { observed } from '@partner-loyalty/runtime/pages/layout.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';
import { countParts } from '@partner-loyalty/runtime/transport/parts.ts';
import type { Ran } from './publish/assess.ts';
import { runOperation } from './registry.ts';
import {
  isOperation,
  MAX_SCHEMA_BYTES,
  type Operation,
  type Publisher,
  parseRequest,
  READING,
  type Registry,
  type RegistryRequest,
} from './request.ts';
import { findToken, refuseToken, requireActive } from './tokens.ts';

const REGISTRY_PATH = '/registry/';

type EndpointParts = {
  settings: Settings;
  graphStore: GraphStore;
  usageStore: Pick<UsageCounts, 'fields'>;
  audit: Pick<Audit, 'graph'> | undefined;
  limiter: Pick<Limiter, 'consumeRegistry' | 'consumeRefusal' | 'refusals'>;
  caches: Pick<Caches, 'open'>;
  log: Log;
  /** How long a request waits for its place, and for its body. */
  waitMs?: number;
  /** A team whose request is assessed for longer waits as long before its next. */
  longMs?: number;
};

/** What may take long: each of them composes a graph. */
const COMPOSING: ReadonlySet<Operation> = new Set(['check', 'publish', 'rollback', 'remove']);
/** JSON escapes line breaks and quotes. */
const MAX_BODY_BYTES = 2 * MAX_SCHEMA_BYTES + 16 * 1_024;
const SMALL_BODY_BYTES = 16 * 1_024;
/** A request has about ten members and 100 codes: 300 parts. */
const MAX_BODY_PARTS = 1_000;
const WAIT_MS = 60_000;
/** Of CPU: on a busy machine, a small schema may take as long by the clock. */
const LONG_MS = 20_000;
/** How old the copy of the tokens may be that serves addresses over their limit. */
const MAX_AGE_MS = 1_000;

/** Handles requests below /registry/; never rejects. */
export function createRegistryEndpoint(parts: EndpointParts) {
  const { graphStore, usageStore, settings, audit, limiter, caches, log } = parts;
  const { waitMs = WAIT_MS, longMs = LONG_MS } = parts;
  const registry: Registry = {
    settings,
    store: graphStore,
    usage: (since) => usageStore.fields(since),
    audit: (action) => audit?.graph(action),
  };
  const identify = createIdentify(graphStore, limiter);
  // Bodies may have 8 MiB, and may arrive slowly.
  const teamPlace = createPlaces({ places: 16, ofOwner: 1, waitMs });
  const place = createPlaces({ places: 2, waitMs });
  const respond = createRespond(registry, caches);
  /** By team, on the clock of `performance.now()`. */
  const pausedUntil = new Map<string, number>();

  function requireNoPause(team: string): void {
    const leftMs = (pausedUntil.get(team) ?? 0) - performance.now();
    if (leftMs > 0)
      throw new Limited(
        'assessing the last schema of this team took long',
        Math.ceil(leftMs / 1_000),
      );
  }

  async function operate(request: HttpRequest): Promise<HttpResponse> {
    const { tokenId, subgraph, owner } = await identify(request);
    const operation = request.path.slice(REGISTRY_PATH.length);
    const changes = isOperation(operation) && !READING.has(operation);
    const { allowed, limit: most, resetSeconds } = await limiter.consumeRegistry(tokenId, changes);
    if (!allowed) {
      const what = changes ? 'changes and checks' : 'reads';
      throw new Limited(
        `this token has been used for ${most} ${what} within a minute`,
        resetSeconds,
      );
    }
    if (!isOperation(operation)) return fail('NOT_FOUND');
    if (request.method !== 'POST') return fail('METHOD_NOT_ALLOWED');
    requireJson(request);
    const composes = COMPOSING.has(operation);
    // Operators type names of teams by hand.
    const team = owner.toLowerCase();
    if (composes) requireNoPause(team);
    const left = composes ? [await teamPlace({ owner: team, signal: request.signal })] : [];
    let assessedMs = 0;
    const ran = (ms: number) => {
      assessedMs += ms;
    };
    try {
      if (composes) requireNoPause(team);
      const limit = composes ? MAX_BODY_BYTES : SMALL_BODY_BYTES;
      const body = await withTimeout(request.body(limit), waitMs, 'too slow').catch(bodyError);
      await request.admit(`registry ${subgraph}`);
      if (composes) left.push(await place({ owner: team, signal: request.signal }));
      if (countParts(body, MAX_BODY_PARTS) > MAX_BODY_PARTS)
        return fail('BAD_REQUEST', 'the body has more members and list items than any request');
      // Without a name that is too long, as countParts has found.
      const text = utf8Text(body) ?? fail('BAD_REQUEST', 'the body is not UTF-8');
      const parsed = parseRequest(operation, parseJson(text));
      if ('fault' in parsed) return fail('BAD_REQUEST', parsed.fault);
      // Reading megabytes and measuring them holds up others for long enough each.
      await nextTurn();
      const publisher = { kind: 'team', tokenId, subgraph, owner } as const;
      // Its places and its body can take three minutes.
      await requireActive(await graphStore.tables(), publisher);
      return { status: 200, headers: {}, body: await respond(publisher, parsed.value, ran) };
    } finally {
      if (assessedMs > longMs) pausedUntil.set(team, performance.now() + assessedMs);
      for (const leave of left) leave();
    }
  }

  return (request: HttpRequest) => {
    const response = () => operate(request).catch((error) => errorResponse(error, request, log));
    return observed(request, response, log);
  };
}

/**
 * Returns a function that runs a request and resolves with its response. `list` and `show` are
 * built once for each version and subgraph, because versions are only ever added.
 */
function createRespond(registry: Registry, caches: Pick<Caches, 'open'>) {
  const built = caches.open<Buffer>(({ length }) => length);
  const building = new Map<string, Promise<Buffer>>();
  // Large versions fill the heap.
  const place = createPlaces({ places: 1 });

  async function build(publisher: Publisher, request: RegistryRequest, ran: Ran, key?: string) {
    const outcome = await runOperation({ ...registry, ran }, publisher, request);
    const body = Buffer.from(JSON.stringify(outcome));
    if (key !== undefined && 'result' in outcome) built.set(key, body);
    return body;
  }

  return async (
    publisher: Extract<Publisher, { kind: 'team' }>,
    request: RegistryRequest,
    ran: Ran,
  ): Promise<Buffer> => {
    const { operation } = request;
    if (operation !== 'list' && operation !== 'show') return build(publisher, request, ran);
    const given = 'version' in request ? request.version : undefined;
    const version = given ?? (await registry.store.latest());
    const key = `${operation} ${version} ${publisher.subgraph}`;
    const found = built.get(key) ?? building.get(key);
    if (found !== undefined) return found;
    const asked = operation === 'show' ? { ...request, version } : request;
    const body = place({ owner: publisher.subgraph })
      .then((leave) => build(publisher, asked, ran, key).finally(leave))
      .finally(() => building.delete(key));
    building.set(key, body);
    return body;
  };
}

/** With `closes`, the connection ends: nothing shows that the client has a valid token. */
class Limited extends ApiError {
  readonly closes: boolean;
  constructor(message: string, retryAfter: number, closes = false) {
    super('RATE_LIMITED', message, { retryAfter });
    this.closes = closes;
  }
}

/**
 * Returns a function that finds the token of a request before its body is read. A wrong token
 * counts as a refused credential of its address. For an address over the limit, tokens are looked
 * up in a copy that is at most a second old.
 */
function createIdentify(graphStore: GraphStore, limiter: EndpointParts['limiter']) {
  let known: Promise<Map<string, SubgraphToken>> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  async function readAll() {
    const { tokens } = await graphStore.tables();
    const rows = await tokens.select(() => true);
    return new Map(rows.map((row) => [row.tokenId, row]));
  }

  async function lookUp(tokenId: string, address: string): Promise<SubgraphToken | undefined> {
    if (!limiter.refusals.mayBeOver(address))
      return (await graphStore.tables()).tokens.get(tokenId);
    if (known === undefined || performance.now() - readAt > MAX_AGE_MS) {
      readAt = performance.now();
      known = readAll();
      known.catch(() => {
        known = undefined;
      });
    }
    return (await known).get(tokenId);
  }

  return async ({ headers, address }: HttpRequest): Promise<SubgraphToken> => {
    const text = bearerToken(headers.authorization) ?? '';
    const found = await limiter.refusals.duringLookUp(address, () =>
      findToken((tokenId) => lookUp(tokenId, address), text),
    );
    if (found !== undefined) return found;
    const { allowed, resetSeconds } = await limiter.consumeRefusal(address);
    if (!allowed) throw new Limited('too many wrong tokens', resetSeconds, true);
    return refuseToken();
  };
}

function bodyError(error: unknown): never {
  if (error instanceof ApiError && error.code !== 'PAYLOAD_TOO_LARGE') throw error;
  if (error instanceof ApiError) fail('PAYLOAD_TOO_LARGE', 'a schema may have 4 MiB at most');
  return fail('BAD_REQUEST', 'the body arrives too slowly', { status: 408 });
}

/** Masks what is not an ApiError. */
function errorResponse(error: unknown, { requestId }: HttpRequest, log: Log): HttpResponse {
  const refusal = error instanceof ApiError ? error : new ApiError('INTERNAL_SERVER_ERROR');
  if (refusal !== error) logMasked(log, requestId, error);
  const { code, message, status, details } = refusal;
  const extensions = extensionsOf(code, requestId, { retryAfter: RETRY_SECONDS, ...details });
  const { retryAfter } = extensions;
  return {
    status,
    headers: {
      ...(code === 'UNAUTHENTICATED' && { 'www-authenticate': 'Bearer' }),
      ...(code === 'METHOD_NOT_ALLOWED' && { allow: 'POST' }),
      ...(retryAfter !== undefined && { 'retry-after': `${retryAfter}` }),
    },
    body: JSON.stringify({ errors: [{ message, extensions }] }),
    closes: refusal instanceof Limited && refusal.closes,
  };
}
const RETRY_SECONDS = 10;
