// Notices overload, so that new requests are refused before any work is spent on them.

/** How late the event loop may be before requests are refused. */
const MAX_DELAY_MS = 250;
const SAMPLE_MS = 50;
/** One late sample may be a pause of the machine; so many in a row are load. */
const LATE_SAMPLES = 2;
/** So few requests at a time are served even if the event loop is late: they did not make it so. */
const FEW = 64;
/** How many requests may be in progress in this process. */
const MAX_IN_FLIGHT = 2_000;

export type Overload = {
  /** Whether a new request has to be refused. */
  sheds(): boolean;
  begin(): void;
  end(): void;
  close(): void;
};

/**
 * Samples the delay of the event loop by a timer: timers run before the sockets are read, so
 * requests that arrived while the loop was blocked find the sample that says so.
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
