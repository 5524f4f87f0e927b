// The styles of the pages, from the files of CSS beside this one, and the script of their forms.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The style of the small pages in a card. */
export const CARD_STYLE = styleOf('palette', 'parts', 'card');
/** The style of the start page and the reference. */
export const DOCS_STYLE = styleOf('palette', 'frame', 'parts', 'docs');
export const EXPLORER_STYLE = styleOf('palette', 'frame', 'explorer');

/** The script of pages with forms, embedded in the page. */
export const FORM_SCRIPT = textOf('pressed.js');

/** The text of the files with these names, one after the other. */
export function styleOf(...names: string[]): string {
  return names.map((name) => textOf(`${name}.css`)).join('');
}

function textOf(file: string): string {
  return readFileSync(join(import.meta.dirname, file), 'utf8');
}
