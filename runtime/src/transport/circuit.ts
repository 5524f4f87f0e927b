// A circuit breaker: calls to a subgraph that hangs or floods fail at once.
import { type Loop, startLoop } from '../eventloop/loop.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { unavailable } from './deadline.ts';
import type { SubgraphRequest, SubgraphResponse } from './types.ts';

/** How many failures in a row open the circuit. */
const MAX_FAILED = 5;
/** Between probes: at first, and at most. */
const PROBE_MS = 1_000;
const MAX_PROBE_MS = 30_000;

type Options = {
  name: string;
  log: Pick<Log, 'warn' | 'outage' | 'recovered'>;
  metrics: Pick<Metrics, 'circuit'> | undefined;
  /** Resolves if the subgraph is ready. */
  probe: () => Promise<unknown>;
};

/**
 * One for each subgraph. Counts operations, since each has its own deadline. After failures in a
 * row it probes the subgraph, every second, so that no caller has to wait. The circuit opens with
 * the first probe that fails: operations that are slow, which can be one caller's, keep nobody else
 * out. The first response, to a probe or to a call in flight, closes it. A flood opens it at once,
 * until a probe is answered; if a subgraph then answers only probes, the next flood opens it again,
 * for twice as long.
 *
 * Libraries (cockatiel, opossum) wrap each call in promises, even one that a subgraph in this
 * process answers synchronously. Here, a call costs one comparison.
 */
export class Circuit {
  private readonly options: Options;
  private failures = 0;
  private answeredAt = 0;
  private isFlooding = false;
  private probeMs = PROBE_MS;
  private probes: Loop | undefined = undefined;
  private hasOpened = false;

  constructor(options: Options) {
    this.options = options;
  }

  /** Whether calls fail at once. */
  isOpen(): boolean {
    return this.hasOpened;
  }

  /** The response to a call while the circuit is open. */
  refuse({ requestId }: SubgraphRequest): SubgraphResponse {
    const { name: subgraph, metrics, log } = this.options;
    metrics?.circuit(subgraph, 'refused');
    const reason = 'its circuit is open';
    log.outage({ requestId, subgraph, reason }, 'a subgraph was not asked');
    return unavailable();
  }

  /** Records that the subgraph has answered an operation. */
  answered(): void {
    if (this.isFlooding && this.isOpen()) return;
    this.answeredAt = performance.now();
    this.isFlooding = false;
    this.closeIfOpen();
  }

  private closeIfOpen(): void {
    if (!this.isFlooding) {
      this.failures = 0;
      this.probeMs = PROBE_MS;
    }
    if (this.probes === undefined) return;
    const wasOpen = this.isOpen();
    this.close();
    if (!wasOpen) return;
    const { name: subgraph, metrics, log } = this.options;
    metrics?.circuit(subgraph, 'closed');
    log.recovered({ subgraph }, 'a subgraph answers again: its circuit is closed');
  }

  /**
   * Records that an operation had no response by its deadline, or one that was cut: a flood. A
   * subgraph that has answered others since `begunAt` does not hang: that operation was slow.
   */
  failed(isFlood: boolean, begunAt: number): void {
    if (!isFlood && this.answeredAt > begunAt) return;
    this.failures += 1;
    this.isFlooding = isFlood;
    if (this.failures < MAX_FAILED || this.isOpen()) return;
    if (this.probes === undefined) this.startProbes();
    if (isFlood) this.open();
  }

  private startProbes(): void {
    const tryOnce = async () => {
      await this.options.probe();
      this.answeredAt = performance.now();
      this.closeIfOpen();
    };
    const failed = () => {
      if (this.probes === probes) this.open();
    };
    const probes = startLoop(tryOnce, { everyMs: this.probeMs, failed });
    if (!this.isFlooding) probes.wake();
    this.probes = probes;
    this.probeMs = Math.min(2 * this.probeMs, MAX_PROBE_MS);
  }

  private open(): void {
    if (this.isOpen()) return;
    this.hasOpened = true;
    const { name: subgraph, metrics, log } = this.options;
    const count = this.failures;
    metrics?.circuit(subgraph, 'opened');
    log.warn({ subgraph, count }, 'a subgraph fails: its circuit is open');
  }

  /** Ends the probes. */
  close(): void {
    void this.probes?.stop();
    this.probes = undefined;
    this.hasOpened = false;
  }
}
