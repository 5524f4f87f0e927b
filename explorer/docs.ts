// The script of the documentation and the console: search, copying, one language for all examples.
import MiniSearch, { type SearchResult } from 'minisearch';
import { type Entry, INDEX_OPTIONS } from '../extensions/site/src/docs/search.ts';
import { canCopy, copyButton, element } from './copy.ts';

const MOST_FOUND = 12;
const LANGUAGE = 'language';

const search = document.getElementById('search');
if (search !== null) offerSearch(search);
followAnchor();
const current = document.querySelector<HTMLElement>('.contents [aria-current]');
if (current?.offsetParent) current.scrollIntoView({ block: 'nearest' });
if (canCopy) offerCopies();
// What answers a form becomes the page at its address: reloading it does not send the form again.
if (document.querySelector('.console') !== null) history.replaceState(null, '', location.href);
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || !target.closest('.tabs')) return;
  choose(target.value);
  sessionStorage.setItem(LANGUAGE, target.value);
});
// Last, since a browser that stores nothing throws.
choose(sessionStorage.getItem(LANGUAGE) ?? '');

/** One language for all examples, on later pages of this tab too. */
function choose(language: string): void {
  for (const each of document.querySelectorAll<HTMLInputElement>('.tabs input'))
    if (each.value === language) each.checked = true;
}

/** Operations, types and their fields were anchors of one page, where links to their pages are. */
function followAnchor(): void {
  const anchor = location.hash.slice(1);
  const type = anchor.split('-', 2).join('-');
  const link = [anchor, type].map((id) => document.getElementById(id)?.querySelector('a'));
  const [to] = link.filter((each) => each?.closest('.listed'));
  if (to) location.replace(`${to.href}#${anchor}`);
}

function offerSearch(place: HTMLElement): void {
  const input = element('input', {
    type: 'search',
    placeholder: 'Search, or press /',
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

  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement && event.target.type !== 'radio';
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    event.preventDefault();
    input.focus();
  });
  place.addEventListener('keydown', (event) => {
    const stops = [input, ...found.querySelectorAll('a')];
    const at = stops.findIndex((each) => each.matches(':focus'));
    const to = { ArrowDown: stops[at + 1], ArrowUp: stops[at - 1] }[event.key];
    if (event.key === 'Enter' && at === 0) stops[1]?.click();
    if (to === undefined) return;
    event.preventDefault();
    to.focus();
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
