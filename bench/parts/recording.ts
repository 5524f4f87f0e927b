// The time to record activities over GraphQL, beside an import; of members, imports and look-ups.
import { shownSpread, spread, type Table } from '../report/outcome.ts';
import { progress } from '../run/progress.ts';
import { resultOf } from '../run/server.ts';
import { ENGINES, type Testbed } from '../run/testbed.ts';
import type { RecordingOptions, RecordingTimes } from '../servers/recording.ts';
import type { Part } from './part.ts';

/** For each row in a round. */
const CALLS = 20;

const ROWS: [way: keyof RecordingTimes, title: string][] = [
  ['one', '`recordActivities` of 1'],
  ['hundred', '`recordActivities` of 100'],
  ['single', '100 × `recordActivities` of 1, at once'],
  ['import', '100 lines of an import'],
  ['members', '1,000 lines of an import of members'],
  ['lookUps', '32 look-ups of members with 20 enrollments, CPU'],
];

/** Medians of rounds in milliseconds, by way. */
type Medians = Record<keyof RecordingTimes, number[]>;

export const recording: Part = {
  title: 'Recording activities, and stores without the gateway',
  method: ({ rounds }) =>
    `No load: ${rounds} rounds, in each of which a new process makes ${CALLS} calls for each row, one at a time and in turns, after as many that are not measured. Each call asks members who is enrolled, in the same process, and ends when its activities are on disk; their events get positions meanwhile. The last row is CPU time`,
  async run(testbed, { rounds }) {
    const embedded = await record(testbed, 'the embedded store', rounds);
    const mongo = await record(testbed, 'MongoDB', rounds);
    return {
      tables: [tableOf([embedded, mongo])],
      figures: {
        recordingOne: spread(mongo.one),
        recordingHundred: spread(mongo.hundred),
        importedActivities: spread(mongo.import.map((ms) => 100_000 / ms)),
        importedMembers: spread(mongo.members.map((ms) => 1_000_000 / ms)),
        mongoLookUp: spread(mongo.lookUps.map((ms) => (1_000 * ms) / 32)),
      },
    };
  },
};

async function record(
  testbed: Testbed,
  engine: (typeof ENGINES)[number],
  rounds: number,
): Promise<Medians> {
  const medians: Medians = {
    ...{ one: [], hundred: [], single: [], import: [], members: [], lookUps: [] },
  };
  for (let round = 1; round <= rounds; round++) {
    const settings = await testbed.newStore(engine, 'recording');
    const options: RecordingOptions = { settings, rounds: 2, calls: CALLS };
    const times = await resultOf<RecordingTimes>(testbed.node, 'recording.ts', options);
    // The first round runs code that is not compiled yet.
    for (const [way] of ROWS) medians[way].push(spread(times[way].at(-1) ?? []).median);
    progress(`round ${round}: ${engine}: ${medians.one.at(-1)?.toFixed(1)} ms`);
  }
  return medians;
}

function tableOf(all: readonly Medians[]): Table {
  return {
    title: 'Without the gateway',
    columns: ['', ...ENGINES.map((engine) => `${engine}, ms`)],
    rows: ROWS.map(([way, name]) => [
      name,
      ...all.map((medians) => shownSpread(spread(medians[way]))),
    ]),
  };
}
