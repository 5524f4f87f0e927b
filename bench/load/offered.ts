// Offers requests at a fixed rate, whether or not the server keeps up, from a process of its own.
import { aboutRandomMembers } from '../dataset/requests.ts';
import { runGenerator, serveAsGenerator } from './generator.ts';
import type { Load } from './load.ts';
import { type RawResult, sendRaw } from './raw.ts';

/** Without a rate, each request is sent as soon as a connection is free. */
export type OfferedLoad = Load & { ratePerSecond?: number };

/** Runs this file as a load generator. */
export function offer(load: OfferedLoad): Promise<RawResult> {
  return runGenerator(load.cores, import.meta.filename, load);
}

await serveAsGenerator(import.meta.filename, (load: OfferedLoad) => {
  let sent = 0;
  const next = () => {
    const template = load.templates[sent++ % load.templates.length] ?? '';
    return aboutRandomMembers(template, load.members);
  };
  return sendRaw({ ...load, next });
});
