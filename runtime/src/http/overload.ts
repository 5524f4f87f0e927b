// Detects overload, so that new requests are refused before they cost any work.

/** How late the event loop may be before requests are refused. */
const MAX_DELAY_MS = 250;
const SAMPLE_MS = 50;
/** This many late samples in a row are load; a single one may be a pause of the machine. */
const LATE_SAMPLES = 2;
/** Up to so many requests at a time are served even if the event loop is late: they are not why. */
const FEW = 64;
/** How many requests may be in progress in this process. */
const MAX_IN_FLIGHT = 2_000;

export type Overload = {
  /** Whether to refuse a new request. */
  sheds(): boolean;
  begin(): void;
  end(): void;
  close(): void;
};

/**
 * Samples the delay of the event loop with a timer. Timers run before sockets are read, so requests
 * that arrived while the loop was blocked already find the late sample.
 */
export function watchOverload(): Overload {
  let inFlight = 0;
  let sampledAt = performance.now();
  let lateSamples = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    lateSamples = now - sampledAt - SAMPLE_MS > MAX_DELAY_MS ? lateSamples + 1 : 0;
    sampledAt = now;
  }, SAMPLE_MS).unref();
  return {
    sheds: () => inFlight >= (lateSamples < LATE_SAMPLES ? MAX_IN_FLIGHT : FEW),
    begin: () => {
      inFlight += 1;
    },
    end: () => {
      inFlight -= 1;
    },
    close: () => clearInterval(timer),
  };
}
