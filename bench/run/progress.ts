// Messages on stderr, which leave stdout to the results.

/** Reports progress. */
export function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Ends the process because the command line is wrong. */
export function exitWith(message: string): never {
  progress(message);
  process.exit(1);
}
