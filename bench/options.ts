// The command line of `npm run bench`.
import { parseArgs } from 'node:util';
import type { Rounds } from './run/rounds.ts';

export type CommandLine = {
  /** The names as given. */
  names: string[];
  options: Rounds;
  /** The major versions of Node to measure; all if undefined. */
  majors: number[] | undefined;
  /** The commit to compare with. */
  against: string | undefined;
};

/** Throws if an option is unknown. */
export function readCommandLine(args: string[]): CommandLine {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      against: { type: 'string' },
      node: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
    },
  });
  const { quick, against, node, seconds, rounds } = values;
  const current = quick ? process.versions.node.split('.')[0] : undefined;
  return {
    names: positionals,
    majors: (node ?? current)?.split(',').map(Number),
    against,
    options: {
      quick,
      seconds: Number(seconds ?? (quick ? 3 : 5)),
      rounds: Number(rounds ?? (against === undefined ? 3 : 5)),
      connections: 32,
    },
  };
}
