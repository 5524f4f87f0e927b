// What a command works with: the settings, and where it prints, as JSON lines or as aligned text.
import type { Settings } from '@partner-loyalty/runtime';

/** A fault of the operator's input or situation: its message is the one line that is printed. */
export class CommandError extends Error {}

/** A printed value; undefined is left out. */
export type Row = Record<string, string | number | boolean | Date | undefined>;

export type Shell = {
  /** Throws with every fault of the settings. */
  settings(): Settings;
  /** Whether `--json` was given. */
  json: boolean;
  /** Prints the result: one JSON object a line with `--json`, aligned text otherwise. */
  print(row: Row): void;
  /** Prints results: one JSON object a line each with `--json`, a table otherwise. */
  printAll(rows: Row[]): void;
  /** Text on stdout, as it is. */
  write(text: string): void;
  /** A line for people, on stderr. */
  note(text: string): void;
  stderr: Terminal;
};

/** Where people read: a terminal, or a file or pipe. */
export type Terminal = NodeJS.WritableStream & { isTTY?: boolean };

/** A shell that prints results to stdout, and nothing else there. */
export function createShell(
  stdout: NodeJS.WritableStream,
  stderr: Terminal,
  settings: () => Settings,
): Shell {
  const shell: Shell = {
    settings,
    json: false,
    print: (row) => shell.write(shell.json ? jsonLine(row) : pairs(row)),
    printAll: (rows) => shell.write(shell.json ? rows.map(jsonLine).join('') : table(rows)),
    write: (text) => void stdout.write(text),
    note: (text) => void stderr.write(`${text}\n`),
    stderr,
  };
  return shell;
}

/** An error as one line, whatever it holds. */
export function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text
    .trim()
    .replace(/:\s*\n\s*/g, ': ')
    .replace(/\s*\n\s*/g, '; ');
}

function jsonLine(row: Row): string {
  return `${JSON.stringify(row)}\n`;
}

function pairs(row: Row): string {
  const known = Object.entries(row).filter(([, value]) => value !== undefined);
  const width = Math.max(...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}\n`).join('');
}

function table(rows: Row[]): string {
  const names = [
    ...new Set(rows.flatMap((row) => Object.keys(row).filter((name) => row[name] !== undefined))),
  ];
  const lines = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
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

function cell(value: Row[string]): string {
  return value instanceof Date ? value.toISOString() : String(value ?? '-');
}
