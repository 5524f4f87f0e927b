// `loyalty usage`, `requests` and `partners top`, and what other commands read of the counts.
import type { Shell } from '@partner-loyalty/cli/shell/shell.ts';
import { requestsCommand } from './commands/requests.ts';
import { topCommand } from './commands/top.ts';
import { usageCommand } from './commands/usage.ts';
import { verifyUsage } from './tables.ts';

export { readUsage } from './commands/usage.ts';

export function commands(shell: Shell) {
  return [usageCommand(shell), requestsCommand(shell)];
}

export function partnerCommands(shell: Shell) {
  return [topCommand(shell)];
}

export const verify = { usage: verifyUsage };
