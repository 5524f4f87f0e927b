// Files beside the code: the styles that all pages share, and the script of forms.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const textOf = (file: string) => textBeside(import.meta.dirname, file);
const PALETTE = textOf('palette.css');
/** The style of pages with a heading and a navigation. */
export const FRAME_STYLE = `${PALETTE}${textOf('frame.css')}`;
export const PARTS_STYLE = textOf('parts.css');
/** The style of the small pages in a card. */
export const CARD_STYLE = `${PALETTE}${PARTS_STYLE}${textOf('card.css')}`;

/** The script of pages with forms, embedded in the page. */
export const FORM_SCRIPT = textOf('pressed.js');

export function textBeside(folder: string, file: string): string {
  return readFileSync(join(folder, file), 'utf8');
}
