// The cost of recording activities over GraphQL, one or a hundred at a time, beside an import.
import { ratios, type Spread, shownSpread, spread, type Table } from '../report/outcome.ts';
import { checkOut } from '../run/checkout.ts';
import { progress } from '../run/progress.ts';
import { resultOf } from '../run/server.ts';
import { ROOT } from '../run/shipped.ts';
import { ENGINES, type Testbed } from '../run/testbed.ts';
import type { RecordingOptions, RecordingTimes } from '../servers/recording.ts';
import type { Part } from './part.ts';

/** For each row in a round. */
const CALLS = 20;
/** The last commit whose stores have an implementation each for LMDB and MongoDB. */
const BEFORE = '989eed13';

const ROWS: [way: keyof RecordingTimes, title: string][] = [
  ['one', '`recordActivities` of 1'],
  ['hundred', '`recordActivities` of 100'],
  ['single', '100 × `recordActivities` of 1, at once'],
  ['import', '100 lines of an import'],
];

/** Medians of rounds in milliseconds, by way. */
type Medians = Record<keyof RecordingTimes, number[]>;

export const recording: Part = {
  title: 'Recording activities',
  notes: [
    `Each call asks members who is enrolled, in the same process, and ends when its activities are on disk. Their events get positions meanwhile. The gateway is not in it. Rows take turns after each call. The version before transactions, whose stores on MongoDB did without, is commit ${BEFORE}.`,
  ],
  method: ({ rounds }) =>
    `No load: ${rounds} rounds, in each of which both versions make ${CALLS} calls for each row, one at a time, in new processes and after as many that are not measured`,
  async run(testbed, { rounds }) {
    const { root, close } = checkOut(BEFORE);
    try {
      const all: Recorded[] = [];
      for (const engine of ENGINES) all.push(await record(testbed, engine, root, rounds));
      const [recordingEmbedded, recordingMongo] = all.map(({ ratio }) => ratio);
      return {
        tables: all.map(({ table }) => table),
        figures: { recordingEmbedded, recordingMongo },
      };
    } finally {
      close();
    }
  },
};

type Recorded = { table: Table; ratio: Spread };

/** On one engine; `before` is the checkout of the version before transactions. */
async function record(
  testbed: Testbed,
  engine: (typeof ENGINES)[number],
  before: string,
  rounds: number,
): Promise<Recorded> {
  const [now, then] = [newMedians(), newMedians()];
  for (let round = 1; round <= rounds; round++)
    for (const root of [ROOT, before]) {
      const medians = root === ROOT ? now : then;
      const settings = await testbed.newStore(engine, `recording${root === ROOT ? '' : 'before'}`);
      const options: RecordingOptions = { settings, rounds: 2, calls: CALLS };
      const times = await resultOf<RecordingTimes>(testbed.node, 'recording.ts', options, root);
      // The first round runs code that is not compiled yet.
      for (const [way] of ROWS) medians[way].push(spread(times[way].at(-1) ?? []).median);
      progress(`round ${round}: ${engine}: ${medians.one.at(-1)?.toFixed(1)} ms`);
    }
  const toBefore = (way: keyof RecordingTimes) => ratios(now[way], then[way]);
  return {
    table: {
      title: engine,
      columns: ['', 'ms', 'cost to the import', 'before transactions, ms', 'cost to before'],
      rows: ROWS.map(([way, name]) => [
        name,
        shownSpread(spread(now[way])),
        shownSpread(ratios(now[way], now.import)),
        shownSpread(spread(then[way])),
        shownSpread(toBefore(way)),
      ]),
    },
    ratio: toBefore('one'),
  };
}

function newMedians(): Medians {
  return { one: [], hundred: [], single: [], import: [] };
}
