// Offers requests at a fixed rate, whether or not the server keeps up, from a process of its own.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { aboutRandomMembers } from '../dataset/requests.ts';
import { pinned } from '../machine/machine.ts';
import { type RawResult, sendRaw } from './raw.ts';
import type { Load } from './wrk.ts';

/** Without a rate, each request is sent as soon as a connection is free. */
export type OfferedLoad = Load & { ratePerSecond?: number };

/** Runs this file as a load generator: the load as JSON in, its result as JSON out. */
export async function offer(load: OfferedLoad): Promise<RawResult> {
  const { command, args } = pinned(load.cores, process.execPath, [
    '--import',
    'tsx',
    import.meta.filename,
    JSON.stringify(load),
  ]);
  const { stdout } = await promisify(execFile)(command, args);
  return JSON.parse(stdout);
}

if (process.argv[1] === import.meta.filename) {
  const load: OfferedLoad = JSON.parse(process.argv[2] ?? '');
  let sent = 0;
  const next = () => {
    const template = load.templates[sent++ % load.templates.length] ?? '';
    return aboutRandomMembers(template, load.members);
  };
  console.log(JSON.stringify(await sendRaw({ ...load, next })));
}
