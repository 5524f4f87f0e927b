// The operator's command as a function: takes arguments, returns an exit code.
import { readEnv } from '@partner-loyalty/runtime/settings/settings.ts';
import { ownCommit, ownVersion } from '@partner-loyalty/runtime/version.ts';
import { Command, CommanderError } from 'commander';
import { activitiesCommand } from './commands/activities.ts';
import { appsCommand } from './commands/apps.ts';
import { auditCommand } from './commands/audit.ts';
import { backupCommand } from './commands/backup.ts';
import { compactCommand } from './commands/compact.ts';
import { doctorCommand } from './commands/doctor.ts';
import { keysCommand } from './commands/keys.ts';
import { membersCommand } from './commands/members.ts';
import { partnersCommand } from './commands/partners.ts';
import { requestsCommand } from './commands/requests.ts';
import { staffCommand } from './commands/staff.ts';
import { supergraphCommand } from './commands/supergraph.ts';
import { tokensCommand } from './commands/tokens.ts';
import { usageCommand } from './commands/usage.ts';
import { verifyCommand } from './commands/verify.ts';
import { webhooksCommand } from './commands/webhooks.ts';
import { oneLine, type Shell } from './shell/shell.ts';

const GROUPS = [
  partnersCommand,
  keysCommand,
  appsCommand,
  staffCommand,
  membersCommand,
  activitiesCommand,
  webhooksCommand,
  tokensCommand,
  supergraphCommand,
  usageCommand,
  requestsCommand,
  auditCommand,
  backupCommand,
  compactCommand,
  verifyCommand,
  doctorCommand,
];

/** Runs a command. Resolves to 0, or to 1 after a line on stderr with the reason; never rejects. */
export async function runCommand(args: readonly string[], shell: Shell): Promise<0 | 1> {
  const program = createProgram(shell);
  redirectOutput(program, shell);
  try {
    await program.parseAsync(args, { from: 'user' }).catch(unlessShown);
    shell.checkOutput();
    return 0;
  } catch (error) {
    shell.note(`loyalty: ${reasonOf(error)}`);
    return 1;
  }
}

export function createProgram(shell: Shell): Command {
  const program = new Command('loyalty')
    .description(
      'Manage the partners, keys, members and activities of the loyalty platform.\n' +
        'Uses the same settings as the service, and may run beside it.',
    )
    .option('--version', 'print the version and the commit')
    .on('option:version', () => {
      shell.write(`${ownVersion()} ${readEnv().COMMIT || ownCommit()}\n`);
      throw new CommanderError(0, 'commander.version', '');
    })
    .option('--json', 'print one JSON object per line')
    .hook('preAction', () => {
      shell.json = program.opts().json === true;
    });
  for (const group of GROUPS) program.addCommand(group(shell));
  return program;
}

/** `--help` is an error of commander. */
function unlessShown(error: unknown): void {
  if (!(error instanceof CommanderError && error.exitCode === 0)) throw error;
}

function reasonOf(error: unknown): string {
  if (error instanceof CommanderError && error.code === 'commander.help')
    return 'a command is missing; --help lists all commands';
  return oneLine(error).replace(/^error: /, '');
}

/** Makes commander throw its errors instead of printing them and exiting. */
function redirectOutput(command: Command, shell: Shell): void {
  command.exitOverride().configureHelp({ showGlobalOptions: true });
  command.configureOutput({ writeOut: (text) => shell.write(text), writeErr: () => undefined });
  for (const child of command.commands) redirectOutput(child, shell);
}
