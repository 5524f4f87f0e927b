// The command line of `npm run bench`.
import { parseArgs } from 'node:util';
import type { Options } from './parts/part.ts';

export type CommandLine = {
  /** The names as given. */
  names: string[];
  options: Options;
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
      connections: { type: 'string' },
    },
  });
  const { quick, against } = values;
  const compares = against !== undefined;
  const quickSeconds = compares ? 4 : 2;
  return {
    names: positionals,
    majors: values.node?.split(',').map(Number),
    against,
    options: {
      quick,
      seconds: Number(values.seconds ?? (quick ? quickSeconds : 5)),
      rounds: Number(values.rounds ?? (compares ? 5 : 3)),
      connections: Number(values.connections ?? 32),
    },
  };
}
