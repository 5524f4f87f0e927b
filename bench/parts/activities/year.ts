// The cost of recording an activity for a member who has none in that year, or very many.
import { join } from 'node:path';
import { type StoreSettings, storesOf } from '../../dataset/stores.ts';
import type { Table } from '../../report/outcome.ts';
import { ratios, shownSpread, spread } from '../../report/statistics.ts';
import { launch } from '../../run/server.ts';
import { benchServer, nodeFlags, ROOT } from '../../run/shipped.ts';
import type { Testbed } from '../../run/testbed.ts';
import type { AppendOptions, AppendTimes } from '../../servers/activities.ts';
import type { Options, Part } from '../part.ts';

/** For each row in a round. */
const APPENDS = 50;

export const activities: Part = {
  title: 'Activities in a year',
  notes: [
    'Each activity is recorded alone and is on disk when its time ends. Rows take turns after each activity.',
  ],
  method: ({ rounds }) =>
    `No load: ${rounds} rounds of ${APPENDS} activities for each row, one at a time`,
  async run(testbed, options) {
    const counts = options.quick ? [0, 2_000, 20_000] : [0, 20_000, 200_000];
    const dataDir = join(testbed.folder, 'activities');
    const embedded = await record(testbed, { dataDir, environment: 'sandbox' }, counts, options);
    const settings = storesOf(0, await testbed.mongodbUrl());
    const mongo = await record(testbed, settings, counts, options);
    return {
      tables: [
        appendTable('Embedded store', counts, embedded),
        appendTable('MongoDB', counts, mongo),
      ],
      figures: { yearEmbedded: largestToFirst(embedded), yearMongo: largestToFirst(mongo) },
    };
  },
};

/** Medians in milliseconds, by row and round. */
async function record(
  testbed: Testbed,
  settings: StoreSettings,
  counts: readonly number[],
  { rounds }: Options,
): Promise<number[][]> {
  const options: AppendOptions = { settings, counts, rounds, appends: APPENDS };
  const script = benchServer(ROOT, 'activities.ts');
  const process = await launch(testbed.node, {
    args: [...nodeFlags(ROOT), script, JSON.stringify(options)],
  });
  try {
    await process.ended;
  } finally {
    await process.stop();
  }
  const [, result] = /^RESULT (.*)$/m.exec(process.output()) ?? [];
  if (result === undefined) throw new Error(`no result: ${process.output()}`);
  const times: AppendTimes = JSON.parse(result);
  return times.map((ofRow) => ofRow.map((ofRound) => spread(ofRound).median));
}

function largestToFirst(all: readonly number[][]) {
  return ratios(all.at(-1) ?? [], all[0] ?? []);
}

function appendTable(title: string, counts: readonly number[], all: readonly number[][]): Table {
  const [first = []] = all;
  return {
    title,
    columns: ['activities before', 'ms for one more', 'cost to the first row'],
    rows: all.map((medians, row) => [
      (counts[row] ?? 0).toLocaleString('en-US'),
      shownSpread(spread(medians)),
      shownSpread(ratios(medians, first)),
    ]),
  };
}
