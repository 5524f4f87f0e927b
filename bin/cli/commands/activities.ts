// `loyalty activities`: imports what members earned and spent.
import { openKeyStore } from '@partner-loyalty/gateway';
import { openStandingsStore, type Program, type RecordOutcome } from '@partner-loyalty/standings';
import { Command } from 'commander';
import { checkActivityLine } from '../activityline.ts';
import type { Verdict } from '../import.ts';
import { importSource, openSource } from '../importfile.ts';
import type { Shell } from '../shell.ts';
import { claimForOperator, lend } from '../stores.ts';

const VERDICTS: Record<RecordOutcome, Verdict> = {
  recorded: 'added',
  'already-recorded': 'unchanged',
  conflict: { refused: 'the activity is in with other content' },
  'out-of-range': { refused: 'the points of the year would leave the range of Int' },
};

export function activitiesCommand(shell: Shell): Command {
  const group = new Command('activities').description('what members earned and spent');
  group
    .command('import')
    .description('import activities; a repeated import changes nothing')
    .argument('<file>', 'NDJSON, an activity a line; - for stdin')
    .action((file: string) => importActivities(shell, file));
  return group;
}

async function importActivities(shell: Shell, file: string): Promise<void> {
  const settings = shell.settings();
  const source = await openSource(file);
  await lend(openKeyStore(settings), (keys) =>
    lend(openStandingsStore(settings), async (standings) => {
      const programs = new Map<string, Program | undefined>();
      const load = async (partnerId: string) =>
        programs.set(partnerId, await standings.program(partnerId));
      await Promise.all((await keys.partners()).map(({ partnerId }) => load(partnerId)));
      await importSource(shell, 'activities', source, {
        check: (line) => checkActivityLine(line, programs, new Date()),
        async store(activities) {
          await claimForOperator(keys);
          return (await standings.record(activities)).map((recorded) => VERDICTS[recorded]);
        },
      });
    }),
  );
}
