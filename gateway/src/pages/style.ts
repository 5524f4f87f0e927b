// The styles of the pages, from the files of CSS beside this one: light and dark, for any screen.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Of the small pages in a card. */
export const CARD_STYLE = styleOf('palette', 'parts', 'card');
/** Of the start page and the reference. */
export const DOCS_STYLE = styleOf('palette', 'frame', 'parts', 'docs');
export const EXPLORER_STYLE = styleOf('palette', 'frame', 'explorer');

/** The text of the files with these names, one after the other. */
export function styleOf(...names: string[]): string {
  const files = names.map((name) => join(import.meta.dirname, `${name}.css`));
  return files.map((file) => readFileSync(file, 'utf8')).join('');
}
