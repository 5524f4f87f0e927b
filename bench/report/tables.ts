// Tables as Markdown and as aligned text.
import type { Table } from './outcome.ts';

/** The table in Markdown, without its title. */
export function markdown({ columns, rows }: Omit<Table, 'title'>): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const alignment = columns.map((_, index) => (index === 0 ? '---' : '---:'));
  return [columns, alignment, ...rows].map(line).join('\n');
}

/** The table with its title, for a terminal. */
export function aligned({ title, columns, rows }: Table): string {
  const lines = [columns, ...rows];
  const widths = columns.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  return [title, ...lines.map((line) => line.map(cell).join('  ').trimEnd())].join('\n');
}
