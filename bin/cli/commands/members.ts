// `loyalty members`: imports members.
import { openKeyStore } from '@partner-loyalty/gateway';
import { type ImportResult, openMembersStore } from '@partner-loyalty/members';
import { Command } from 'commander';
import type { Verdict } from '../import.ts';
import { importSource, openSource } from '../importfile.ts';
import { checkMember } from '../memberline.ts';
import type { Shell } from '../shell.ts';
import { claimForOperator, lend } from '../stores.ts';

const VERDICTS: Record<ImportResult, Verdict> = {
  added: 'added',
  changed: 'changed',
  unchanged: 'unchanged',
  'email-in-use': { refused: 'an address belongs to another member' },
  'external-id-conflict': { refused: 'an external ID is active for another member of the partner' },
};

export function membersCommand(shell: Shell): Command {
  const group = new Command('members').description('the members of the platform');
  group
    .command('import')
    .description('import members; a repeated import changes nothing')
    .argument('<file>', 'NDJSON, a member a line; - for stdin')
    .action((file: string) => importMembers(shell, file));
  return group;
}

async function importMembers(shell: Shell, file: string): Promise<void> {
  const settings = shell.settings();
  const source = await openSource(file);
  await lend(openKeyStore(settings), async (keys) => {
    const partners = new Set((await keys.partners()).map(({ partnerId }) => partnerId));
    await lend(openMembersStore(settings), (members) =>
      importSource(shell, 'members', source, {
        check: (line) => checkMember(line, partners),
        async store(records) {
          await claimForOperator(keys);
          return (await members.importMembers(records)).map((imported) => VERDICTS[imported]);
        },
      }),
    );
  });
}
