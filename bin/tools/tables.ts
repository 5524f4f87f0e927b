// The generated pages of docs, each a table made from the code that uses the facts in it.
import { ERRORS, type ErrorRow } from '@partner-loyalty/runtime/errors.ts';
import { HEADERS } from '@partner-loyalty/runtime/http/headers.ts';
import { LOG_FIELDS } from '@partner-loyalty/runtime/observe/fields.ts';
import { METRICS } from '@partner-loyalty/runtime/observe/metrics.ts';
import { SUBGRAPH_SETTINGS } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { SETTINGS } from '@partner-loyalty/runtime/settings/table.ts';

export function settingsTable(): string {
  const rows = Object.values(SETTINGS).map(({ name, default: unset, meaning }) => [
    code(name),
    unset,
    meaning,
  ]);
  const ofSubgraphs = Object.values(SUBGRAPH_SETTINGS).map(
    ({ suffix, default: unset, meaning }) => [code(`<NAME>_${suffix}`), unset, meaning],
  );
  return table(['variable', 'default', 'meaning'], [...rows, ...ofSubgraphs]);
}

/** Whether a request is sent again, and how often, in the words of the guide to errors. */
export const RETRIES = {
  always: 'always, until the deadline',
  repeatable: 'if it is safe to repeat, until the deadline',
  once: 'if it is safe to repeat, once',
  never: 'never',
};

export function errorsTable(): string {
  const all: [string, ErrorRow][] = Object.entries(ERRORS);
  const rows = all.map(([name, { status, retry, when }]) => [
    code(name),
    `${status}`,
    RETRIES[retry ?? 'never'],
    when,
  ]);
  return table(['code', 'status', 'retry', 'when'], rows);
}

const DIRECTIONS = {
  request: 'from clients',
  response: 'to clients',
  both: 'both ways',
  subgraph: 'gateway to subgraph',
};

export function headersTable(): string {
  const rows = Object.entries(HEADERS).flatMap(([direction, headers]) =>
    // Cast: Object.entries loses the names.
    Object.entries(headers).map(([name, meaning]) => [
      code(name),
      DIRECTIONS[direction as keyof typeof HEADERS],
      meaning,
    ]),
  );
  return table(['header', 'travels', 'meaning'], rows);
}

export function metricsTable(): string {
  const rows = Object.values(METRICS).map(({ name, type, labels, meaning }) => [
    code(name),
    type,
    labels.map(code).join(', '),
    meaning,
  ]);
  return table(['metric', 'type', 'labels', 'meaning'], rows);
}

export function logTable(): string {
  const rows = Object.entries(LOG_FIELDS).map(([name, meaning]) => [code(name), meaning]);
  return table(['field', 'meaning'], rows);
}

function table(heads: string[], rows: string[][]): string {
  const line = (cells: string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('');
}

const code = (text: string) => `\`${text}\``;
