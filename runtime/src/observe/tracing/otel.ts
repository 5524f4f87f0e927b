// Tracing by OpenTelemetry's SDK, which exports over HTTP. Loaded only if an endpoint is set.
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { withTimeout } from '../../timeout.ts';
import type { Log } from '../log.ts';
import type { ReceivedHeaders, Trace, TraceAttributes, TraceHeaders, Tracing } from './trace.ts';

const DEFAULT_RATIO = 0.01;
const CLOSING_MS = 2_000;
const KINDS = { client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

/**
 * The SDK reads the other OTEL_ variables itself: headers, timeouts, limits and the size of its
 * queue, beyond which spans are dropped. `env` has the sampler's and the name of the service.
 */
export function createTracing(parts: {
  /** What the service is called unless OTEL_SERVICE_NAME says otherwise. */
  serviceName: string;
  version: string;
  env: Readonly<Record<string, string | undefined>>;
  log: Pick<Log, 'outage'>;
}): Tracing {
  const { serviceName, version, env, log } = parts;
  const named = resourceFromAttributes({
    'service.name': serviceName,
    'service.version': version,
    'process.pid': process.pid,
  });
  const ids = new DecidedIds();
  const root = env.OTEL_TRACES_SAMPLER ? undefined : defaultRoot(env.OTEL_TRACES_SAMPLER_ARG);
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(reporting(new OTLPTraceExporter(), log))],
    idGenerator: ids,
    ...(root !== undefined && { sampler: new ParentBasedSampler({ root }) }),
  });
  const tracer = provider.getTracer('partner-loyalty', version);
  const propagator = new W3CTraceContextPropagator();

  return {
    begin(name, received) {
      const isRoot = received.traceparent === undefined;
      if (isRoot && root !== undefined) {
        const traceId = ids.decideOn(root);
        if (traceId !== undefined) return new UnrecordedTrace(() => ids.headersOf(traceId));
      }
      const parent = isRoot ? ROOT_CONTEXT : propagator.extract(ROOT_CONTEXT, received, GETTER);
      const span = tracer.startSpan(name, SERVER, parent);
      if (span.isRecording()) return new RecordedSpan(tracer, span, parent);
      // The caller's own headers, if it sent any: no span of this process is known to anyone.
      return new UnrecordedTrace(() => headersOf(trace.getSpan(parent) ?? span));
    },
    close: () => withTimeout(provider.shutdown(), CLOSING_MS, 'too late').catch(() => {}),
  };
}

const SERVER = { kind: SpanKind.SERVER };

const GETTER: TextMapGetter<ReceivedHeaders> = {
  keys: (headers) => Object.keys(headers),
  get: (headers, name) => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  },
};

function defaultRoot(argument: string | undefined): TraceIdRatioBasedSampler {
  const ratio = Number(argument || DEFAULT_RATIO);
  return new TraceIdRatioBasedSampler(ratio >= 0 && ratio <= 1 ? ratio : DEFAULT_RATIO);
}

/**
 * Decides on a trace before the SDK makes a span for it: 99 of 100 are not recorded, and asking the
 * SDK takes 2 µs for each of them.
 */
class DecidedIds implements IdGenerator {
  private readonly random = new RandomIdGenerator();
  private decided: string | undefined = undefined;

  /** The ID of a trace that is not recorded; if it is, the next trace gets the ID. */
  decideOn(sampler: TraceIdRatioBasedSampler): string | undefined {
    const traceId = this.random.generateTraceId();
    const { decision } = sampler.shouldSample(ROOT_CONTEXT, traceId);
    if (decision === SamplingDecision.NOT_RECORD) return traceId;
    this.decided = traceId;
    return undefined;
  }

  generateTraceId(): string {
    const traceId = this.decided ?? this.random.generateTraceId();
    this.decided = undefined;
    return traceId;
  }

  generateSpanId(): string {
    return this.random.generateSpanId();
  }

  /** The headers of a trace that is not recorded. */
  headersOf(traceId: string): TraceHeaders {
    return { traceparent: `00-${traceId}-${this.generateSpanId()}-00` };
  }
}

/** The exporter, whose failures are logged. */
function reporting(exporter: SpanExporter, log: Pick<Log, 'outage'>): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const reason = 'the endpoint does not take them';
        if (result.code !== ExportResultCode.SUCCESS)
          log.outage({ reason, count: spans.length }, 'spans could not be exported');
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

class RecordedSpan implements Trace {
  readonly isRecorded = true;
  private readonly tracer: Tracer;
  private readonly span: Span;
  private readonly context: Context;
  private current: Span | undefined = undefined;

  constructor(tracer: Tracer, span: Span, parent: Context) {
    this.tracer = tracer;
    this.span = span;
    this.context = trace.setSpan(parent, span);
  }

  headers(): TraceHeaders {
    return headersOf(this.span);
  }

  child(name: string, kind: keyof typeof KINDS): Trace {
    const parent =
      this.current === undefined ? this.context : trace.setSpan(this.context, this.current);
    const span = this.tracer.startSpan(name, { kind: KINDS[kind] }, parent);
    return new RecordedSpan(this.tracer, span, parent);
  }

  phase(name: string): void {
    this.current?.end();
    this.current = this.tracer.startSpan(name, undefined, this.context);
  }

  end(attributes: TraceAttributes = {}, isFailed = false): void {
    this.current?.end();
    this.span.setAttributes(attributes);
    if (isFailed) this.span.setStatus({ code: SpanStatusCode.ERROR });
    this.span.end();
  }
}

/** What is called within it learns that the trace is not recorded, instead of deciding anew. */
class UnrecordedTrace implements Trace {
  readonly isRecorded = false;
  readonly headers: () => TraceHeaders;

  constructor(headers: () => TraceHeaders) {
    this.headers = headers;
  }

  child(): Trace {
    return this;
  }

  phase(): void {}

  end(): void {}
}

function headersOf(span: Span): TraceHeaders {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = (traceFlags & TraceFlags.SAMPLED) === 0 ? '00' : '01';
  const traceparent = `00-${traceId}-${spanId}-${flags}`;
  const tracestate = traceState?.serialize();
  return tracestate ? { traceparent, tracestate } : { traceparent };
}
