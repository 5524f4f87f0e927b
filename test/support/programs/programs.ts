// The programs that tests start as processes, and how to start them.
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../../..');

/** Whether Node erases types itself, as in the images. */
export const RUNS_TYPESCRIPT = Number(process.versions.node.split('.')[0]) >= 24;

export const PROGRAMS = [
  'bin/start.ts',
  'bin/loyalty.ts',
  'gateway/src/main.ts',
  'subgraphs/members/src/main.ts',
  'subgraphs/standings/src/main.ts',
  'subgraphs/members/test/process.ts',
  'subgraphs/standings/test/process.ts',
  'test/support/servers/oidc.ts',
] as const;

/** The arguments of node, in the root folder, that start a program. */
export function programArgs(program: (typeof PROGRAMS)[number]): string[] {
  const { PROGRAMS_FOLDER } = process.env;
  if (PROGRAMS_FOLDER) return [join(PROGRAMS_FOLDER, program.replace(/ts$/, 'mjs'))];
  // Not in a test, but in `npm run fuzz`, which starts one process.
  return [...(RUNS_TYPESCRIPT ? [] : ['--import', 'tsx']), join(ROOT, program)];
}
