// The cost of recording activities over GraphQL, one or a hundred at a time, beside an import.
import { join } from 'node:path';
import { type StoreSettings, storesOf } from '../dataset/stores.ts';
import { ratios, shownSpread, spread, type Table } from '../report/outcome.ts';
import { resultOf } from '../run/server.ts';
import type { Testbed } from '../run/testbed.ts';
import type { RecordingOptions, RecordingTimes } from '../servers/recording.ts';
import type { Options, Part } from './part.ts';

/** For each row in a round. */
const CALLS = 20;

const ROWS: [way: keyof RecordingTimes, title: string][] = [
  ['one', '`recordActivities` of 1'],
  ['hundred', '`recordActivities` of 100'],
  ['single', '100 × `recordActivities` of 1, at once'],
  ['import', '100 lines of an import'],
];

export const recording: Part = {
  title: 'Recording activities',
  notes: [
    'Each call asks members who is enrolled, in the same process, and ends when its activities are on disk. The gateway is not in it. Rows take turns after each call.',
  ],
  method: ({ rounds }) => `No load: ${rounds} rounds of ${CALLS} calls for each row, one at a time`,
  async run(testbed, options) {
    const dataDir = join(testbed.folder, 'recording');
    const embedded = await record(testbed, { dataDir, environment: 'sandbox' }, options);
    const mongo = await record(
      testbed,
      storesOf(0, { mongodbUrl: await testbed.mongodbUrl() }),
      options,
    );
    return {
      tables: [tableOf('Embedded store', embedded), tableOf('MongoDB', mongo)],
      figures: {},
    };
  },
};

type Medians = Record<keyof RecordingTimes, number[]>;

/** Medians in milliseconds, by way and round. */
async function record(
  testbed: Testbed,
  settings: StoreSettings,
  { rounds }: Options,
): Promise<Medians> {
  const options: RecordingOptions = { settings, rounds, calls: CALLS };
  const times = await resultOf<RecordingTimes>(testbed.node, 'recording.ts', options);
  const medians = (way: keyof RecordingTimes) =>
    times[way].map((ofRound) => spread(ofRound).median);
  return {
    one: medians('one'),
    hundred: medians('hundred'),
    single: medians('single'),
    import: medians('import'),
  };
}

function tableOf(title: string, medians: Medians): Table {
  return {
    title,
    columns: ['', 'ms', 'cost to the import'],
    rows: ROWS.map(([way, name]) => [
      name,
      shownSpread(spread(medians[way])),
      shownSpread(ratios(medians[way], medians.import)),
    ]),
  };
}
