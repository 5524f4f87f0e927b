// Traces as the rest of the code sees them, so that OpenTelemetry is loaded only if it is used.

export type TraceAttributes = Readonly<Record<string, string | number | undefined>>;

/** A span, or a trace that is passed on but not recorded. It travels as an argument. */
export type Trace = {
  readonly isRecorded: boolean;
  /** The headers for what is called within this span (W3C Trace Context). */
  headers(): TraceHeaders;
  /** Begins a span within this one, or within its phase. */
  child(name: string, kind: 'client' | 'internal'): Trace;
  /** Ends the phase of this span, and begins the next one. */
  phase(name: string): void;
  /** Ends the span and its phase. `isFailed` marks an error of this side. */
  end(attributes?: TraceAttributes, isFailed?: boolean): void;
};

export type TraceHeaders = { traceparent: string; tracestate?: string };

/** The headers of a request, of which tracing reads `traceparent` and `tracestate`. */
export type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>;

export type Tracing = {
  /**
   * The span of a request, within the caller's if its headers name one. Malformed headers count as
   * none. The sampler decides whether it is recorded.
   */
  begin(name: string, received: ReceivedHeaders): Trace;
  /** Exports what is recorded, for 2 seconds at most. */
  close(): Promise<void>;
};
