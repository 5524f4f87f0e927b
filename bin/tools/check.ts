// Checks comments and regular expressions, for `npm run check`.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { superlinear } from './regex.ts';

const ROOT = join(import.meta.dirname, '../..');
const SOURCE =
  /^(runtime|gateway|subgraphs|bin|client|test|bench|examples|explorer)\/.*\.[cm]?[jt]s$/;
/** What runs where callers or operators choose the input. */
const RUNS = /^(runtime|gateway|subgraphs|bin|client|examples)\//;
const TEST_OR_GENERATED = /\.test\.ts$|\.generated\.[jt]s$/;
const MAX_LINE = 100;

/** How the files break the rules, a line each. */
export function breaches(files: readonly { path: string; text: string }[]): string[] {
  const badHeads = files
    .filter(({ text }) => !/^(#!.*\n)?\/\/ \S.*\.(\n|$)/.test(text))
    .map(({ path }) => `${path}: does not begin with a comment of one sentence`);
  const longLines = files
    .filter(({ path }) => !path.endsWith('.generated.ts'))
    .flatMap(longComments);
  const slow = files
    .filter(({ path }) => RUNS.test(path) && !TEST_OR_GENERATED.test(path))
    .flatMap(superlinear);
  return [...badHeads, ...longLines, ...slow];
}

/** Biome wraps code, but not comments. */
function longComments({ path, text }: { path: string; text: string }): string[] {
  return text.split('\n').flatMap((line, index) => {
    const isLong = line.length > MAX_LINE && /^\s*(\/\/|\/\*|\* )/.test(line);
    return isLong ? [`${path}:${index + 1}: a comment has over ${MAX_LINE} characters`] : [];
  });
}

function sourceFiles(): { path: string; text: string }[] {
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard'];
  return execFileSync('git', listed, { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((path) => SOURCE.test(path) && !path.endsWith('.generated.js'))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

if (process.argv[1] === import.meta.filename) {
  const found = breaches(sourceFiles());
  for (const breach of found) console.error(breach);
  if (found.length > 0) process.exitCode = 1;
}
