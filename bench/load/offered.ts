// Offers a fixed rate of requests, whether or not answers keep up, from a process of its own.
// Run as: node --import tsx offered.ts '{"url":"…","texts":["…"],"members":…,"seconds":…,"connections":…,"ratePerSecond":…}'
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { placed } from '../machine.ts';
import { digits, NUMBER } from '../population.ts';
import type { Load } from './load.ts';
import { type Driven, drive } from './raw.ts';

/** Runs the generator in a process of its own to its end. Without a rate it sends as fast as it is answered. */
export async function offer(load: Load & { ratePerSecond?: number }): Promise<Driven> {
  const run = placed(load.place, process.execPath, [
    '--import',
    'tsx',
    import.meta.filename,
    JSON.stringify(load),
  ]);
  const { stdout } = await promisify(execFile)(run.command, run.args);
  return JSON.parse(stdout);
}

if (process.argv[1] === import.meta.filename) {
  // Cast: offer() above writes it.
  const load = JSON.parse(process.argv[2] ?? '') as Load & { ratePerSecond?: number };
  let turn = 0;
  const next = () => {
    const text = load.texts[turn++ % load.texts.length] ?? '';
    return text.replaceAll(NUMBER, () => digits(Math.floor(Math.random() * load.members)));
  };
  console.log(JSON.stringify(await drive({ ...load, next })));
}
