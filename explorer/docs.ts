// The script of the documentation: search, copying, and one language for all examples.
import MiniSearch, { type SearchResult } from 'minisearch';
import { type Entry, INDEX_OPTIONS } from '../gateway/src/pages/docs/search.ts';
import { byId, element } from './dom.ts';

const MOST_FOUND = 12;
const COPIED_MS = 2_000;

offerSearch(byId('search', HTMLElement));
// Browsers allow copying only on a page that came over TLS or from this machine.
if (isSecureContext) offerCopies();
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
    programs[0]?.before(copyButton(() => programs.find((each) => each.offsetParent !== null)));
  }
  for (const block of document.querySelectorAll<HTMLElement>('.text > pre'))
    block.before(copyButton(() => block));
}

function copyButton(block: () => HTMLElement | undefined): HTMLElement {
  const button = element(
    'button',
    { type: 'button', class: 'copy', 'aria-live': 'polite' },
    'Copy',
  );
  button.addEventListener('click', async () => {
    const text = block()?.textContent ?? '';
    button.textContent = await navigator.clipboard.writeText(text).then(
      () => 'Copied',
      () => 'Not copied',
    );
    setTimeout(() => {
      button.textContent = 'Copy';
    }, COPIED_MS);
  });
  return button;
}
