// A circuit breaker: calls to a hanging subgraph fail at once instead of at their deadlines.
import { type Loop, startLoop } from '../eventloop/loop.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { unavailable } from './deadline.ts';
import type { SubgraphRequest, SubgraphResponse } from './types.ts';

/** How many missed deadlines in a row open the circuit. */
const MAX_MISSED = 5;
const PROBE_MS = 1_000;

type Options = {
  name: string;
  log: Pick<Log, 'warn' | 'outage' | 'recovered'>;
  metrics: Pick<Metrics, 'circuit'> | undefined;
  /** Resolves if the subgraph is ready. */
  probe: () => Promise<unknown>;
};

/**
 * One for each subgraph. Counts operations, since each has its own deadline. While the circuit is
 * open, it probes the subgraph every second, so that no caller has to wait; the first response, to
 * a probe or to a call in flight, closes it.
 *
 * Libraries (cockatiel, opossum) wrap each call in promises, even one that a subgraph in this
 * process answers synchronously. Here, a call costs one comparison.
 */
export class Circuit {
  private readonly options: Options;
  private missed = 0;
  private probes: Loop | undefined = undefined;

  constructor(options: Options) {
    this.options = options;
  }

  /** Whether calls fail at once. */
  isOpen(): boolean {
    return this.probes !== undefined;
  }

  /** The response to a call while the circuit is open. */
  refuse({ requestId }: SubgraphRequest): SubgraphResponse {
    const { name: subgraph, metrics, log } = this.options;
    metrics?.circuit(subgraph, 'refused');
    const reason = 'its circuit is open';
    log.outage({ requestId, subgraph, reason }, 'a subgraph was not asked');
    return unavailable();
  }

  /** Records that the subgraph has answered an operation or a probe. */
  answered(): void {
    this.missed = 0;
    if (!this.isOpen()) return;
    this.close();
    const { name: subgraph, metrics, log } = this.options;
    metrics?.circuit(subgraph, 'closed');
    log.recovered({ subgraph }, 'a subgraph answers again: its circuit is closed');
  }

  /** Records that an operation had no response by its deadline. */
  missedDeadline(): void {
    this.missed += 1;
    if (this.missed < MAX_MISSED || this.isOpen()) return;
    const { name: subgraph, metrics, log, probe } = this.options;
    const tryOnce = () => probe().then(() => this.answered());
    this.probes = startLoop(tryOnce, { everyMs: PROBE_MS, failed() {} });
    const count = this.missed;
    metrics?.circuit(subgraph, 'opened');
    log.warn({ subgraph, count }, 'a subgraph missed its deadlines: its circuit is open');
  }

  /** Ends the probes. */
  close(): void {
    void this.probes?.stop();
    this.probes = undefined;
  }
}
