// The index that the search of the documentation reads, made from the text of its pages.
import MiniSearch from 'minisearch';
import { TEXT_START } from './paths.ts';

/** What can be found: a heading or a term with an ID, such as an operation, a type or a field. */
export type Entry = { id: string; title: string; place: string; text: string };

/** Also for the script that reads the index. */
export const INDEX_OPTIONS = {
  fields: ['title', 'place', 'text'],
  storeFields: ['title', 'place'],
  searchOptions: { boost: { title: 4 }, prefix: true, fuzzy: 0.2, combineWith: 'AND' as const },
};

/** Each takes some 200 bytes. */
const MAX_WORDS = 400_000;

const wordsIn: (text: string) => string[] = MiniSearch.getDefault('tokenize');

/** Indexes pages by their paths, until they have too many words. */
export function indexOf(pages: ReadonlyMap<string, string>): string {
  const index = new MiniSearch<Entry>(INDEX_OPTIONS);
  let words = 0;
  for (const [path, page] of pages) {
    // Schemas of other teams may have names that give the same ID.
    const unique = new Map(entriesOf(path, page).map((entry) => [entry.id, entry]));
    for (const { place, text } of unique.values()) words += wordsIn(`${place} ${text}`).length;
    if (words > MAX_WORDS) break;
    index.addAll([...unique.values()]);
  }
  return JSON.stringify(index);
}

/** How elements contain each other, whose title is their beginning. */
const RANKS = ['h1', 'h2', 'h3', 'div', 'dt'];

/**
 * The headings and terms with an ID in the text of a page, each with what is above it as its place,
 * which begins with the text before all of them, up to the title of the page.
 */
export function entriesOf(path: string, page: string): Entry[] {
  const [, text = ''] = page.split(TEXT_START);
  const parts = withoutExamples(text).split(' id="');
  const start = plain((parts[0] ?? '').split('</h1>', 1).join(), '');
  const above = start === '' ? [] : [{ rank: -1, title: start }];
  return parts.slice(1).flatMap((part, index) => {
    const [id = '', ...rest] = part.split('"');
    const [title = '', ...body] = rest
      .join('"')
      .slice(1)
      .split(/<\/(?:h[1-4]|dt)>/);
    const [tag = ''] = parts[index]?.slice(parts[index].lastIndexOf('<') + 1).split(' ') ?? [];
    const rank = RANKS.indexOf(tag);
    if (rank === -1) return [];
    while ((above.at(-1)?.rank ?? -1) >= rank) above.pop();
    const place = above.map((each) => each.title).join(' › ');
    const entry = {
      id: `${path}#${id}`,
      title: plain(title, ''),
      place,
      text: plain(body.join(' '), ' '),
    };
    above.push({ rank, title: entry.title });
    return [entry];
  });
}

function withoutExamples(text: string): string {
  const [first = '', ...others] = text.split('<section class="example"');
  return [first, ...others.map((each) => each.slice(each.indexOf('</section>')))].join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** What a reader sees, on one line, with something else in place of each tag. */
function plain(part: string, between: string): string {
  return part
    .replace(/<[^<>]*(>|$)/g, between)
    .replace(/&[a-z\d#]+;/g, (entity) => ENTITIES[entity] ?? entity)
    .replace(/\s+/g, ' ')
    .trim();
}
