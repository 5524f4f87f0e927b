// The operator's command as a function: arguments in, exit code out.
import { Command, CommanderError } from 'commander';
import { activitiesCommand } from './commands/activities.ts';
import { keysCommand } from './commands/keys.ts';
import { membersCommand } from './commands/members.ts';
import { partnersCommand } from './commands/partners.ts';
import { supergraphCommand } from './commands/supergraph.ts';
import { tokensCommand } from './commands/tokens.ts';
import { oneLine, type Shell } from './shell.ts';

const GROUPS = [
  partnersCommand,
  keysCommand,
  membersCommand,
  activitiesCommand,
  tokensCommand,
  supergraphCommand,
];

/** Runs one command. Resolves to 0, or to 1 after one line on stderr that says why; never rejects. */
export async function runCommand(args: readonly string[], shell: Shell): Promise<0 | 1> {
  const program = new Command('loyalty')
    .description(
      'Partners, keys, members and activities of the loyalty platform.\nReads the same settings as the service, beside which it may run.',
    )
    .option('--json', 'print one JSON object a line')
    .hook('preAction', () => {
      shell.json = program.opts().json === true;
    });
  for (const group of GROUPS) program.addCommand(group(shell));
  silence(program, shell);
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    shell.note(`loyalty: ${reason(error)}`);
    return 1;
  }
}

function reason(error: unknown): string {
  if (error instanceof CommanderError && error.code === 'commander.help')
    return 'a command is missing; --help lists them';
  return oneLine(error).replace(/^error: /, '');
}

/** Has commander throw its errors, to be printed as one line, instead of printing and exiting by itself. */
function silence(command: Command, shell: Shell): void {
  command.exitOverride().configureHelp({ showGlobalOptions: true });
  command.configureOutput({ writeOut: (text) => shell.write(text), writeErr: () => undefined });
  for (const child of command.commands) silence(child, shell);
}
