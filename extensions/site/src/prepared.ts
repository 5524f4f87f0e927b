// A public response that is prepared once and sent as it is: its bytes, compressed, and an ETag.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { DocumentedGraph } from '@partner-loyalty/gateway/graph/served.ts';
import type { ResponseHeaders } from '@partner-loyalty/runtime/http/headers.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import Negotiator from 'negotiator';

export type Prepared = {
  headers: Readonly<ResponseHeaders>;
  etag: string;
  bodies: Readonly<Record<Encoding, Buffer>>;
};

type Encoding = 'br' | 'gzip' | 'identity';

// Above this, Brotli takes several times as long to save a few percent more.
const BROTLI_QUALITY = 9;

/** Compresses the content on threads, so that requests are answered meanwhile. */
export async function prepare(
  content: string | Buffer,
  headers: Readonly<ResponseHeaders>,
): Promise<Prepared> {
  const identity = Buffer.from(content);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: identity.length,
  };
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(identity, { params }),
    promisify(gzip)(identity, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  return { headers, etag: `W/"${contentHash(identity)}"`, bodies: { br, gzip: gz, identity } };
}

/** Short enough for a path, and long enough that no two contents share it. */
export function contentHash(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 22);
}

/** 200 with the content in an encoding that the client accepts, or 304 if it has the content. */
export function preparedResponse(
  { headers, etag, bodies }: Prepared,
  request: HttpRequest,
): HttpResponse {
  const shared = { vary: 'accept, accept-encoding', etag };
  const { 'content-type': _type, ...others } = headers;
  if (request.headers['if-none-match']?.includes(etag.slice(2)))
    return { status: 304, headers: { ...others, ...shared }, body: '' };
  const encoding = encodingFor(request);
  const encoded = encoding === 'identity' ? {} : { 'content-encoding': encoding };
  return { status: 200, headers: { ...headers, ...shared, ...encoded }, body: bodies[encoding] };
}

/** Brotli rather than gzip, and uncompressed if the client accepts neither. */
function encodingFor({ headers }: HttpRequest): Encoding {
  const accepted = headers['accept-encoding'];
  if (typeof accepted !== 'string') return 'identity';
  const negotiator = new Negotiator({ headers: { 'accept-encoding': accepted } });
  const encodings = negotiator.encodings(['br', 'gzip']);
  if (encodings.includes('br')) return 'br';
  return encodings.includes('gzip') ? 'gzip' : 'identity';
}

export type Route = {
  /** Whether only a client that names text/html gets it. */
  isPage: boolean;
  content(): Promise<Prepared>;
};

/** Content may lack what a store could not give, and be made again after this. */
const KEPT_MS = 60_000;

/** Prepares the content at its first request for each graph, and again after a while. */
export function onceForEach(
  current: () => DocumentedGraph,
  make: (graph: DocumentedGraph) => Promise<Prepared>,
  keptMs = KEPT_MS,
): () => Promise<Prepared> {
  const all = new WeakMap<DocumentedGraph, { content: Promise<Prepared>; until: number }>();
  return () => {
    const graph = current();
    const known = all.get(graph);
    if (known !== undefined && performance.now() < known.until) return known.content;
    const content = make(graph);
    const made = { content, until: performance.now() + keptMs };
    content.catch(() => {
      made.until = performance.now() + KEPT_MS;
    });
    all.set(graph, made);
    return content;
  };
}
