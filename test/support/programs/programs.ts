// The programs that tests start as processes, and how to start them.
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../../..');

export const PROGRAMS = [
  'bin/start.ts',
  'bin/loyalty.ts',
  'bin/gateway.ts',
  'bin/members.ts',
  'bin/standings.ts',
  'gateway/src/execute/worker.ts',
  'extensions/registry/src/publish/worker.ts',
  'runtime/test/accounts.ts',
  'subgraphs/members/test/writer.ts',
  'subgraphs/standings/test/sequencer.ts',
  'test/support/store/acknowledge.ts',
  'test/support/store/merger.ts',
] as const;

/** The arguments of node, in the root folder, that start a program of this or another checkout. */
export function programArgs(program: string, root = ROOT): string[] {
  return [join(root, 'runtime/run.js'), join(root, program)];
}
