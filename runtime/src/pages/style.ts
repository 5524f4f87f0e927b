// The styles that all pages share, from the files of CSS beside this one, and the script of forms.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PALETTE = textOf('palette.css');
/** The style of pages with a heading and a navigation. */
export const FRAME_STYLE = `${PALETTE}${textOf('frame.css')}`;
export const PARTS_STYLE = textOf('parts.css');
/** The style of the small pages in a card. */
export const CARD_STYLE = `${PALETTE}${PARTS_STYLE}${textOf('card.css')}`;

/** The script of pages with forms, embedded in the page. */
export const FORM_SCRIPT = textOf('pressed.js');

function textOf(file: string): string {
  return readFileSync(join(import.meta.dirname, file), 'utf8');
}
