// Checks comments, regular expressions and the list of callers' pages, for `npm run check`.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageTitle } from '@partner-loyalty/site/docs/guides.ts';
import { PAGES } from '@partner-loyalty/site/docs/paths.ts';
import { parseSync } from '@swc/core';
import { analyse } from 'scslre';

const ROOT = join(import.meta.dirname, '../..');
const SOURCE =
  /^(runtime|gateway|subgraphs|extensions|bin|client|test|bench|examples|explorer)\/.*\.[cm]?[jt]s$/;
/** What runs where callers or operators choose the input. */
const RUNS = /^(runtime|gateway|subgraphs|extensions|bin|client|examples)\//;
const TEST_OR_GENERATED = /\.test\.ts$|\.generated\.[jt]s$/;
const MAX_LINE = 100;
const FOLDER = 'docs/callers';

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

/** How the expressions of a source break the rule, a line each. */
export function superlinear({ path, text }: { path: string; text: string }): string[] {
  const found: string[] = [];
  visit(parseSync(text, { syntax: 'typescript', target: 'es2022' }), (node) => {
    if (node.type === 'RegExpLiteral') {
      const expression = `/${node.pattern}/${node.flags}`;
      for (const reason of reasonsOf(String(node.pattern), String(node.flags)))
        found.push(`${path}: ${expression} is not linear: ${reason}`);
    }
    if (isConstructed(node))
      found.push(`${path}: an expression that is built at run time cannot be checked`);
  });
  return found;
}

/**
 * An expression is searched for from every character unless it is anchored, so a part of it that
 * reads on before it fails makes the search quadratic: such a part is a `Move`. The other types are
 * two parts that can divide the same text among them in several ways.
 */
function reasonsOf(source: string, flags: string): string[] {
  const { reports } = analyse({ source, flags });
  return reports.map(
    ({ type, exponential }) => `${exponential ? 'exponential' : 'polynomial'} (${type})`,
  );
}

type Node = { readonly [name: string]: unknown };

function isConstructed({ type, callee }: Node): boolean {
  if (type !== 'NewExpression' && type !== 'CallExpression') return false;
  return isNode(callee) && callee.type === 'Identifier' && callee.value === 'RegExp';
}

function visit(value: unknown, onNode: (node: Node) => void): void {
  if (Array.isArray(value)) for (const item of value) visit(item, onNode);
  if (!isNode(value)) return;
  onNode(value);
  for (const child of Object.values(value)) visit(child, onNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The pages for callers that lack a file or its title, and the files that PAGES lacks. */
function pageFaults(): string[] {
  const unlisted = readdirSync(join(ROOT, FOLDER), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !PAGES.includes(file.slice(0, -3)))
    .map((file) => `${FOLDER}/${file}: not in the list of pages`);
  const unreadable = PAGES.flatMap((page) => {
    try {
      pageTitle(page);
      return [];
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
  });
  return [...unlisted, ...unreadable];
}

if (process.argv[1] === import.meta.filename) {
  const found = [...breaches(sourceFiles()), ...pageFaults()];
  for (const breach of found) console.error(breach);
  if (found.length > 0) process.exitCode = 1;
}
