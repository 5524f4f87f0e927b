// The recorded results in bench/results: the last one of each part on each major version of Node.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Outcome } from './outcome.ts';

export type Result = Outcome & {
  part: string;
  /** The version of Node that was measured. */
  node: string;
  date: string;
  command: string;
  machine: string;
  /** How the load was made, and the versions of the peers. */
  versions: string;
};

const FOLDER = resolve(import.meta.dirname, '../results');

/** Records a result, and replaces the earlier one of the same part and major version of Node. */
export function record(result: Result): void {
  mkdirSync(FOLDER, { recursive: true });
  const file = join(FOLDER, `${result.part}.node${majorOf(result)}.json`);
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
}

/** All recorded results. */
export function recordedResults(): Result[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name): Result => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')));
}

export function majorOf({ node }: Result): string {
  return node.split('.')[0] ?? node;
}
