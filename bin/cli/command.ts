// The operator's command as a function: takes arguments, returns an exit code.
import { NO_USAGE } from '@partner-loyalty/gateway/usage/usage.ts';
import { readEnv } from '@partner-loyalty/runtime/settings/settings.ts';
import { ownCommit, ownVersion } from '@partner-loyalty/runtime/version.ts';
import { Command, CommanderError } from 'commander';
import { commandExtensions } from '../extensions/list.ts';
import { activitiesCommand } from './commands/activities.ts';
import { doctorCommand } from './commands/doctor.ts';
import { backupCommand, compactCommand } from './commands/files.ts';
import { keysCommand } from './commands/keys.ts';
import { membersCommand } from './commands/members.ts';
import { partnersCommand } from './commands/partners.ts';
import { staffCommand } from './commands/staff.ts';
import { tokensCommand } from './commands/tokens.ts';
import { verifyCommand } from './commands/verify.ts';
import type { ServiceShell } from './shell/extension.ts';
import { oneLine, type Shell } from './shell/shell.ts';

/** The core's commands. */
const GROUPS = [
  partnersCommand,
  keysCommand,
  staffCommand,
  membersCommand,
  activitiesCommand,
  tokensCommand,
  backupCommand,
  compactCommand,
  verifyCommand,
  doctorCommand,
];

/** Runs a command. Resolves to 0, or to 1 after a line on stderr with the reason; never rejects. */
export async function runCommand(args: readonly string[], shell: Shell): Promise<0 | 1> {
  try {
    const program = await createProgram(shell);
    redirectOutput(program, shell);
    await program.parseAsync(args, { from: 'user' }).catch(unlessShown);
    shell.checkOutput();
    return 0;
  } catch (error) {
    shell.note(`loyalty: ${reasonOf(error)}`);
    return 1;
  }
}

export async function createProgram(shell: Shell): Promise<Command> {
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
  const extensions = await commandExtensions();
  const [audited] = extensions.flatMap((extension) => extension.audited ?? []);
  const [readUsage] = extensions.flatMap((extension) => extension.readUsage ?? []);
  const lent = { ...LENT, ...(audited && { audited }), ...(readUsage && { readUsage }) };
  // The same object, whose `json` is set later.
  const service: ServiceShell = Object.assign(shell, lent, { extensions });
  for (const group of GROUPS) {
    const command = group(service);
    const earlier = extensions.filter(({ before }) => before === command.name());
    const others = earlier.flatMap(({ commands }) => commands(service));
    for (const each of [...others, command]) program.addCommand(each);
  }
  return program;
}

/** What the shell lends without the extensions that do more. */
const LENT: Omit<ServiceShell, keyof Shell | 'extensions'> = {
  audited: (_, work) => work(() => {}),
  readUsage: (_, work) => work(NO_USAGE.usageStore),
  startService: async (...given) => (await import('../demo/service.ts')).startService(...given),
};

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
