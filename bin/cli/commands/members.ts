// `loyalty members`: imports members.
import type { ImportResult } from '@partner-loyalty/members';
import { Command } from 'commander';
import type { ImportOutcome } from '../import/importer.ts';
import { createMemberLineParser } from '../import/member.ts';
import { openSource, runImport } from '../import/run.ts';
import type { Shell } from '../shell/shell.ts';
import { claimForOperator, withStore } from '../shell/stores.ts';

const OUTCOMES: Record<ImportResult, ImportOutcome> = {
  added: 'added',
  changed: 'changed',
  unchanged: 'unchanged',
  'email-in-use': { refused: 'an address belongs to another member' },
  'external-id-conflict': {
    refused: 'an external ID belongs to another member of the partner',
  },
};

export function membersCommand(shell: Shell): Command {
  const group = new Command('members').description('manage the members of the platform');
  group
    .command('import')
    .description('import members; repeating an import changes nothing')
    .argument('<file>', 'NDJSON with one member per line; - for stdin')
    .action((file: string) => importMembers(shell, file));
  return group;
}

async function importMembers(shell: Shell, file: string): Promise<void> {
  const settings = shell.settings();
  const source = await openSource(file);
  await withStore('keys', settings, async (keys) => {
    const partners = new Set((await keys.partners()).map(({ partnerId }) => partnerId));
    await withStore('members', settings, (members) =>
      runImport(shell, 'members', source, {
        parse: createMemberLineParser(partners),
        async store(records) {
          await claimForOperator(keys);
          return (await members.importMembers(records)).map((outcome) => OUTCOMES[outcome]);
        },
      }),
    );
  });
}
