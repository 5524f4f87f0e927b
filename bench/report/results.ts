// The recorded results: a file for each part, with the last one on each major version of Node.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
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
  const others = recordedResults().filter(
    ({ part, node }) => part === result.part && majorOf({ node }) !== majorOf(result),
  );
  const all = [...others, result].sort((a, b) => Number(majorOf(a)) - Number(majorOf(b)));
  writeFileSync(join(FOLDER, `${result.part}.json`), `${JSON.stringify(all, null, 2)}\n`);
}

/** All recorded results. */
export function recordedResults(): Result[] {
  return readdirSync(FOLDER).flatMap((name): Result[] =>
    JSON.parse(readFileSync(join(FOLDER, name), 'utf8')),
  );
}

/** The recorded result of the same part and major version of Node. */
export function recordedOf(wanted: Pick<Result, 'part' | 'node'>): Result | undefined {
  return recordedResults().find(
    ({ part, node }) => part === wanted.part && majorOf({ node }) === majorOf(wanted),
  );
}

export function majorOf({ node }: Pick<Result, 'node'>): string {
  return node.split('.')[0] ?? node;
}
