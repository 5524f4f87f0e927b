// What a command works with: the settings, and output as JSON lines or as aligned text.

import { withoutAltering } from '@partner-loyalty/runtime/input.ts';
import { inOneLine } from '@partner-loyalty/runtime/process/failedstart.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { timeText } from '@partner-loyalty/runtime/time.ts';
import type { Output } from './output.ts';

/** A failure that the operator can act on; its message is the one line that is printed. */
export class CommandError extends Error {}

export function noSuch(what: string, id: string | undefined): CommandError {
  return new CommandError(`there is no ${what} ${JSON.stringify(id)}`);
}

/** A result with named values; those that are undefined are left out. */
export type Row = Record<string, string | number | boolean | Date | object | undefined>;

export type Shell = {
  /** Throws an Error that names every fault of the settings. */
  settings(): Settings;
  json: boolean;
  /** Prints a result: a line of JSON with `--json`, aligned text otherwise. */
  print(row: Row): void;
  /** Prints results: a line of JSON for each with `--json`, a table otherwise. */
  printAll(rows: Row[]): void;
  /**
   * Prints a result that is never shown again, whose first value is its ID, and the note below it.
   * Throws a CommandError if it is lost.
   */
  printOnce(row: Row, note?: string): void;
  write(text: string): void;
  /** Writes a line for people to stderr. */
  note(text: string): void;
  /**
   * Throws a CommandError if something could not be written. A reader that went away, such as
   * `head -1`, is no failure, unless `loss` says what depends on the output.
   */
  checkOutput(loss?: string): void;
  stderr: Output;
};

/** A shell that writes results, and nothing else, to stdout. */
export function createShell(stdout: Output, stderr: Output, settings: () => Settings): Shell {
  const shell: Shell = {
    settings,
    json: false,
    print: (row) => shell.write(shell.json ? jsonLine(row) : pairs(row)),
    printAll: (rows) => shell.write(shell.json ? rows.map(jsonLine).join('') : table(rows)),
    printOnce(row, note) {
      shell.print(row);
      shell.checkOutput(`the secret of ${Object.values(row)[0]} is lost: make another one`);
      if (note !== undefined && !shell.json) shell.note(note);
    },
    write: (text) => void stdout.write(text),
    note: (text) => void stderr.write(`${harmless(text)}\n`),
    checkOutput(loss) {
      const outputs = loss === undefined ? [stdout, stderr] : [stdout];
      const errors = outputs.flatMap(({ errored }) => errored ?? []);
      const error = errors.find((each) => loss !== undefined || !isGone(each));
      if (error === undefined) return;
      const fault = `the output cannot be written: ${error.message}`;
      throw new CommandError(loss === undefined ? fault : `${loss} (${fault})`);
    },
    stderr,
  };
  return shell;
}

/** The second one is of a socket, which other programs may start the command with. */
function isGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'ECONNRESET';
}

export function oneLine(error: unknown): string {
  return inOneLine(error instanceof Error ? error.message : String(error));
}

function jsonLine(row: Row): string {
  return `${JSON.stringify(row)}\n`;
}

function pairs(row: Row): string {
  const known = Object.entries(row).filter(([, value]) => value !== undefined);
  const width = Math.max(...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${name.padEnd(width)}  ${cell(name, value)}\n`).join('');
}

function table(rows: Row[]): string {
  const names = [...new Set(rows.flatMap(Object.keys))].filter((name) =>
    rows.some((row) => row[name] !== undefined),
  );
  const lines = [names, ...rows.map((row) => names.map((name) => cell(name, row[name])))];
  const widths = names.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines
    .map(
      (line) =>
        `${line
          .map((text, column) => text.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** What happened at a time is read in its order, which needs seconds. */
function cell(name: string, value: Row[string]): string {
  if (value instanceof Date) return timeText(value, name === 'at' || name === 'time');
  const isPlain = typeof value !== 'object' || Array.isArray(value);
  return harmless(isPlain ? String(value ?? '-') : JSON.stringify(value));
}

/** Teams and partners choose texts, which could send commands to the operator's terminal. */
function harmless(text: string): string {
  return withoutAltering(text.replace(/[^\P{Cc}\n]/gu, '?'));
}
