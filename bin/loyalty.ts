// The operator's command: `npx loyalty`.
import { readEnv, readSettings } from '@partner-loyalty/runtime';
import { runCommand } from './cli/command.ts';
import { createShell } from './cli/shell.ts';

// A reader that has seen enough, as `| head -1`, is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? 0 : 1),
);

const shell = createShell(process.stdout, process.stderr, () => readSettings(readEnv(), 'all'));
process.exitCode = await runCommand(process.argv.slice(2), shell);
