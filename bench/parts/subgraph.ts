// A subgraph alone: this project's beside Apollo Server with @apollo/subgraph.
import { ratios, shown, shownSpread, spread } from '../report/statistics.ts';
import type { Comparable } from '../run/compare.ts';
import { type Contender, failuresOf, type Measurements, values } from '../run/measurements.ts';
import { measureRounds } from '../run/rounds.ts';
import { ROOT } from '../run/shipped.ts';
import { WARM_UP } from '../run/warmup.ts';
import { batched, single, startSubgraph, stock } from '../variants/subgraph.ts';
import type { Part } from './part.ts';

export const subgraph: Part = {
  title: 'A subgraph alone',
  notes: ['A process on the other core signs and sends the requests.'],
  method: ({ seconds, rounds }) =>
    `Load by load/raw.ts and load/signed.ts, ${rounds} rounds of ${seconds} s after ${WARM_UP}`,
  async run(testbed, options) {
    const contenders = [single, batched, stock].map(
      (variant): Contender => ({
        title: variant.title,
        start: (at) => startSubgraph(at, ROOT, variant),
      }),
    );
    const all = await measureRounds(testbed, contenders, options);
    const [ours, , reference] = all.map((each) => values(each, 'perSecond'));
    return {
      tables: [
        {
          title: 'The operation that the gateway sends to members, answered from memory',
          columns: ['', 'operations/s', 'to Apollo Server', 'CPU µs/operation', 'p50 ms', 'p99 ms'],
          rows: all.map((measurements) => rowOf(measurements, reference ?? [])),
        },
      ],
      figures: { subgraphToApollo: ratios(ours ?? [], reference ?? []) },
      failures: failuresOf(all),
    };
  },
  comparables: [single, batched].map(
    (variant): Comparable => ({
      title: variant.title,
      start: (testbed, root) => startSubgraph(testbed, root, variant),
    }),
  ),
};

function rowOf(measurements: Measurements<Contender>, reference: number[]): string[] {
  const perSecond = values(measurements, 'perSecond');
  return [
    measurements.contender.title,
    shownSpread(spread(perSecond)),
    shown(ratios(perSecond, reference).median),
    ...(['cpuMicros', 'p50Ms', 'p99Ms'] as const).map((name) =>
      shownSpread(spread(values(measurements, name))),
    ),
  ];
}
