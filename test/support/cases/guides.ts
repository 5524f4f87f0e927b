// The guides as what a reader does: the programs to save, the blocks to paste, and what they print.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Block = {
  language: string;
  text: string;
  /** The paragraphs before it and after it, up to the next block. */
  before: string;
  after: string;
};

const FOLDER = join(import.meta.dirname, '../../../docs/callers/guides');

/** Its days in November 2026 become today, so that the sums are this year's. */
export function guideBlocks(name: string): Block[] {
  const today = new Date().toISOString().slice(0, 10);
  const year = today.slice(0, 4);
  const text = readFileSync(join(FOLDER, `${name}.md`), 'utf8')
    .replaceAll(/2026-11-2\d/g, today)
    .replaceAll('2026-01-01', `${year}-01-01`)
    .replaceAll('2027-01-01', `${Number(year) + 1}-01-01`);
  const parts = text.split(/^```/m);
  return parts.flatMap((part, index) => {
    if (index % 2 === 0) return [];
    const [language = '', ...lines] = part.split('\n');
    return {
      language,
      text: lines.join('\n'),
      before: parts[index - 1] ?? '',
      after: parts[index + 1] ?? '',
    };
  });
}

/** The file that the reader is told to save a program as. */
export function savedAs({ language, before }: Block): string | undefined {
  if (language !== 'js' && language !== 'python') return undefined;
  return [...before.matchAll(/[Ss]ave (?:this|it) as\s+`([^`]+)`/g)].at(-1)?.[1];
}

/** The command that the reader is told to run after saving a program. */
export function commandOf({ before }: Block): string | undefined {
  return /run it with\s+`([^`]+)`/.exec(before)?.[1];
}

/** What the paragraph after a block says that it prints. */
export function printedBy({ after }: Block): string[] {
  const [paragraph = ''] = after.trim().split('\n\n');
  return [...paragraph.matchAll(/(?:prints|ends with|the second|ID and) `([^`]+)`/g)].map(
    ([, text = '']) => text,
  );
}

/** Without times, IDs and cursors, which differ each time. */
export function masked(json: string): unknown {
  return JSON.parse(json.replace(/"(\d{4}-\d\d-\d\dT[^"]*|[\w-]{20,})"/g, '"…"'));
}
