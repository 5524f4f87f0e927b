// A circuit breaker: calls to a hanging subgraph fail at once instead of at their deadlines.
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { unavailable } from './deadline.ts';
import type { SubgraphRequest, SubgraphResponse } from './types.ts';

/** How many missed deadlines in a row open the circuit. */
const MAX_MISSED = 5;
const PROBE_MS = 1_000;

/**
 * One for each subgraph. Counts operations, since each has its own deadline. While the circuit is
 * open, it probes the subgraph every second, so that no caller has to wait; the first response, to
 * a probe or to a call in flight, closes it.
 *
 * Libraries (cockatiel, opossum) wrap each call in promises, even one that a subgraph in this
 * process answers synchronously. Here, a call costs one comparison.
 */
export class Circuit {
  private readonly name: string;
  private readonly log: Pick<Log, 'warn' | 'outage' | 'recovered'>;
  private readonly metrics: Pick<Metrics, 'circuit'> | undefined;
  private readonly probe: () => Promise<unknown>;
  private missed = 0;
  private timer: NodeJS.Timeout | undefined = undefined;

  /** `probe` resolves if the subgraph is ready. */
  constructor(options: {
    name: string;
    log: Pick<Log, 'warn' | 'outage' | 'recovered'>;
    metrics: Pick<Metrics, 'circuit'> | undefined;
    probe: () => Promise<unknown>;
  }) {
    this.name = options.name;
    this.log = options.log;
    this.metrics = options.metrics;
    this.probe = options.probe;
  }

  /** Whether calls fail at once. */
  isOpen(): boolean {
    return this.timer !== undefined;
  }

  /** The response to a call while the circuit is open. */
  refuse({ requestId }: SubgraphRequest): SubgraphResponse {
    this.metrics?.circuit(this.name, 'refused');
    this.log.outage(
      { requestId, subgraph: this.name, reason: 'its circuit is open' },
      'a subgraph was not asked',
    );
    return unavailable();
  }

  /** Records that the subgraph has answered an operation or a probe. */
  answered(): void {
    this.missed = 0;
    if (!this.isOpen()) return;
    this.close();
    this.metrics?.circuit(this.name, 'closed');
    this.log.recovered({ subgraph: this.name }, 'a subgraph answers again: its circuit is closed');
  }

  /** Records that an operation had no response by its deadline. */
  missedDeadline(): void {
    this.missed += 1;
    if (this.missed < MAX_MISSED || this.isOpen()) return;
    this.timer = setInterval(() => this.probeNow(), PROBE_MS).unref();
    this.metrics?.circuit(this.name, 'opened');
    this.log.warn(
      { subgraph: this.name, count: this.missed },
      'a subgraph missed its deadlines: its circuit is open',
    );
  }

  /** Ends the probes. */
  close(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private probeNow(): void {
    this.probe().then(
      () => this.answered(),
      () => {}, // The next probe is in a second.
    );
  }
}
