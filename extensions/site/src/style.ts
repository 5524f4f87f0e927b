// The styles of the start page, the reference and the explorer.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FRAME_STYLE, PARTS_STYLE } from '@partner-loyalty/runtime/pages/style.ts';

export const DOCS_STYLE = `${FRAME_STYLE}${PARTS_STYLE}${textOf('docs.css')}`;
export const EXPLORER_STYLE = `${FRAME_STYLE}${textOf('explorer.css')}`;

function textOf(file: string): string {
  return readFileSync(join(import.meta.dirname, file), 'utf8');
}
