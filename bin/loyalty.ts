// The operator's command: `npx --no-install loyalty`.
import { readEnv, readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { runCommand } from './cli/command.ts';
import { createShell } from './cli/shell/shell.ts';

// A reader that closes the pipe early, such as `| head -1`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? 0 : 1),
);

const shell = createShell(process.stdout, process.stderr, () => readSettings(readEnv(), 'all'));
process.exitCode = await runCommand(process.argv.slice(2), shell);
