// The operator's command: `npx --no-install loyalty`.
import { readEnv, readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { runCommand } from './cli/command.ts';
import { openOutput } from './cli/shell/output.ts';
import { createShell } from './cli/shell/shell.ts';

const shell = createShell(openOutput(1), openOutput(2), () => readSettings(readEnv(), 'all'));
process.exitCode = await runCommand(process.argv.slice(2), shell);
