// `loyalty tokens`: ID tokens of the built-in provider.
import { Command } from 'commander';
import { CommandError, type Shell } from '../shell.ts';

export function tokensCommand(shell: Shell): Command {
  const group = new Command('tokens').description('ID tokens of the built-in provider');
  group
    .command('issue')
    .description('make an ID token of a member, valid for an hour')
    .argument('<memberid>', "the member's id")
    .action((memberId: string) => issue(shell, memberId));
  return group;
}

async function issue(_shell: Shell, _memberId: string): Promise<void> {
  throw new CommandError('the built-in provider is not there yet');
}
