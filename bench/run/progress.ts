// Progress messages, on stderr to leave stdout to the results.

export function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}
