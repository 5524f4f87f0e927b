// `loyalty activities`: imports what members earned and gave back.
import type { Parsed } from '@partner-loyalty/runtime/input.ts';
import {
  createActivityParser,
  type DatedActivity,
  type Program,
  type RecordOutcome,
  yearOf,
} from '@partner-loyalty/standings';
import type { ImportOutcome } from '../import/importer.ts';
import { openSource, runImport } from '../import/run.ts';
import { commandGroup } from '../shell/argument.ts';
import type { Shell } from '../shell/shell.ts';
import { claimForOperator, withStore } from '../shell/stores.ts';

const OUTCOMES: Record<RecordOutcome, ImportOutcome> = {
  recorded: 'added',
  'already-recorded': 'unchanged',
  conflict: { refused: 'activityId must not be that of an activity with other content' },
  'out-of-range': { refused: 'points and stays must not take the year out of the range of Int' },
  erased: { refused: 'memberId must not be that of an erased member' },
};

/** With fewer, the pages of the index by member are written more often. Takes about 0.3 s. */
const BATCH_LINES = 20_000;

export function activitiesCommand(shell: Shell) {
  const { group, add } = commandGroup('activities', 'manage what members earned and gave back');
  add('import', 'import activities; repeating an import changes nothing', {
    '<file>': 'NDJSON with one activity per line; - for stdin',
  }).action((file: string) => importActivities(shell, file));
  return group;
}

async function importActivities(shell: Shell, file: string): Promise<void> {
  const settings = shell.settings();
  const source = await openSource(file);
  await withStore('keys', settings, (keys) =>
    withStore('standings', settings, async (standings) => {
      const programs = new Map<string, Program | undefined>();
      const load = async (partnerId: string) =>
        programs.set(partnerId, await standings.program(partnerId));
      await Promise.all((await keys.partners()).map(({ partnerId }) => load(partnerId)));
      await runImport(shell, 'activities', source, {
        batchLines: BATCH_LINES,
        parse: createActivityLineParser(programs),
        async store(activities) {
          await claimForOperator(keys);
          return (await standings.record(activities)).map((outcome) => OUTCOMES[outcome]);
        },
      });
    }),
  );
}

/** A parser of lines. `programs` has an entry for each partner, even for one without a program. */
export function createActivityLineParser(
  programs: ReadonlyMap<string, Program | undefined>,
): (line: Record<string, unknown>) => Parsed<DatedActivity> {
  const parse = createActivityParser(() => new Date());
  return (line) => {
    const parsed = parse(line);
    if ('fault' in parsed) return parsed;
    const { partnerId, occurredAt } = parsed.value;
    if (!programs.has(partnerId)) return { fault: 'partnerId must be that of an existing partner' };
    return { value: { ...parsed.value, year: yearOf(programs.get(partnerId), occurredAt) } };
  };
}
