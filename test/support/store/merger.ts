// The command `loyalty` in a process that dies at its n-th write, or n ms after its first output.
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { Collection } from 'mongodb';
import { runCommand } from '../../../bin/cli/command.ts';
import { createShell } from '../../../bin/cli/shell/shell.ts';

const [count = '1', ...args] = process.argv.slice(2);
let left = Number(count);

const die = () => void process.kill(process.pid, 'SIGKILL');

if (process.env.MONGODB_URL !== undefined) {
  // Cast: the methods are replaced as they are called.
  const methods = Collection.prototype as unknown as Record<string, (...of: unknown[]) => unknown>;
  for (const name of [
    ...['insertOne', 'insertMany', 'updateOne', 'updateMany', 'replaceOne'],
    ...['deleteOne', 'deleteMany', 'bulkWrite'],
  ]) {
    const work = methods[name];
    if (work === undefined) throw new Error(`there is no ${name}`);
    methods[name] = async function (...of: unknown[]) {
      left -= 1;
      const isLast = left === 0;
      try {
        return await work.apply(this, of);
      } finally {
        if (isLast) die();
      }
    };
  }
}

const shell = createShell(process.stdout, process.stderr, () => readSettings(process.env, 'all'));
const { write } = shell;
shell.write = (text) => {
  write(text);
  if (process.env.MONGODB_URL !== undefined) return;
  if (left > 0) setTimeout(die, left);
  left = 0;
};
process.exitCode = await runCommand(args, shell);
