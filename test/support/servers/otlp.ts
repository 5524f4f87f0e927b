// A receiver of traces by OTLP over HTTP, as a collector is one.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs';

export type ReceivedSpan = {
  /** The name of the service in the resource. */
  service: string;
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentSpanId: string;
  traceState: string;
  name: string;
  kind: string;
  attributes: Record<string, unknown>;
  isError: boolean;
};

export type OtlpReceiver = {
  /** What OTEL_EXPORTER_OTLP_ENDPOINT is to be. */
  url: string;
  spans: ReceivedSpan[];
  /** The paths and media types of the requests, each once. */
  requests: Set<string>;
  /** All bodies, undecoded. */
  bytes(): string;
  close(): Promise<void>;
};

// The part of opentelemetry/proto/trace/v1/trace.proto that the tests read.
const { root } = protobuf.parse(`
  syntax = "proto3";
  message Export { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4;
    string name = 5; SpanKind kind = 6; fixed64 start_time_unix_nano = 7;
    fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9; Status status = 15;
  }
  enum SpanKind { UNSPECIFIED = 0; INTERNAL = 1; SERVER = 2; CLIENT = 3; }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue {
    oneof value {
      string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
    }
  }
`);
const EXPORT = root.lookupType('Export');
const ERROR = 2;

type KeyValues = { key: string; value?: Record<string, unknown> }[];
type Decoded = {
  resourceSpans?: {
    resource?: { attributes?: KeyValues };
    scopeSpans?: { spans?: DecodedSpan[] }[];
  }[];
};
type DecodedSpan = {
  traceId: Buffer;
  spanId: Buffer;
  parentSpanId?: Buffer;
  traceState?: string;
  name: string;
  kind: string;
  attributes?: KeyValues;
  status?: { code?: number };
};

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const requests = new Set<string>();
  const bodies: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const sent = await buffer(request);
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    bodies.push(body);
    requests.add(`${request.method} ${request.url} ${request.headers['content-type']}`);
    spans.push(...decode(body));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    // Cast: a server that listens on a port has an address with a port.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    bytes: () => Buffer.concat(bodies).toString('latin1'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function decode(body: Buffer): ReceivedSpan[] {
  // Cast: toObject makes this of the messages above.
  const { resourceSpans = [] } = EXPORT.toObject(EXPORT.decode(body), {
    enums: String,
    longs: Number,
  }) as Decoded;
  return resourceSpans.flatMap(({ resource, scopeSpans = [] }) =>
    scopeSpans.flatMap(({ spans = [] }) =>
      spans.map((span) => ({
        service: String(valuesOf(resource?.attributes)['service.name']),
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId),
        traceState: span.traceState ?? '',
        name: span.name,
        kind: span.kind,
        attributes: valuesOf(span.attributes),
        isError: span.status?.code === ERROR,
      })),
    ),
  );
}

function hex(bytes: Buffer | undefined): string {
  return Buffer.from(bytes ?? []).toString('hex');
}

function valuesOf(attributes: KeyValues = []): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value = {} }) => [key, Object.values(value)[0]]),
  );
}
