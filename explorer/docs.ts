// The script of the documentation and the console: search, copying, one language for all examples.
import MiniSearch, { type SearchResult } from 'minisearch';
import { type Entry, INDEX_OPTIONS } from '../extensions/site/src/docs/search.ts';
import { canCopy, copyButton, element } from './copy.ts';

const MOST_FOUND = 12;

const search = document.getElementById('search');
if (search !== null) offerSearch(search);
if (canCopy) offerCopies();
// What answers a form becomes the page at its address: reloading it does not send the form again.
if (document.querySelector('.console') !== null) history.replaceState(null, '', location.href);
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.type !== 'radio') return;
  for (const each of document.querySelectorAll<HTMLInputElement>('.tabs input'))
    each.checked = each.value === target.value;
});

function offerSearch(place: HTMLElement): void {
  const input = element('input', {
    type: 'search',
    placeholder: 'Search',
    autocomplete: 'off',
    'aria-label': 'Search the documentation',
  }) as HTMLInputElement;
  const state = element('p', { role: 'status', class: 'soft' });
  const found = element('ul', {});
  place.append(input, state, found);
  let index: Promise<MiniSearch<Entry>> | undefined;
  input.addEventListener('input', async () => {
    try {
      index ??= loadIndex(place.dataset.index ?? '');
      show((await index).search(input.value));
    } catch {
      index = undefined;
      state.textContent = 'The search cannot be loaded. Type again to retry.';
    }
  });

  function show(all: SearchResult[]): void {
    const shown = all.slice(0, MOST_FOUND);
    state.textContent = input.value.trim() === '' ? '' : `${all.length} found`;
    found.replaceChildren(
      ...shown.map(({ id, title, place: where }) =>
        element('li', {}, element('a', { href: id }, title, element('small', {}, where))),
      ),
    );
  }
}

async function loadIndex(path: string): Promise<MiniSearch<Entry>> {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`the index has the status ${response.status}`);
  return MiniSearch.loadJSON<Entry>(await response.text(), INDEX_OPTIONS);
}

/** A button for each set of tabs, which copies the program that shows, and for each other block. */
function offerCopies(): void {
  for (const tabs of document.querySelectorAll('.tabs')) {
    const programs = [...tabs.querySelectorAll('pre')];
    const shown = () => programs.find((each) => each.offsetParent !== null);
    programs[0]?.before(copyButton('Copy', 'copy', () => shown()?.textContent));
  }
  for (const block of document.querySelectorAll<HTMLElement>('.text > pre, .console pre'))
    block.before(copyButton('Copy', 'copy', () => block.textContent));
}
