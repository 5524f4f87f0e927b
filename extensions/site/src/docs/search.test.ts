// What the search of the documentation finds, and what it says about it.

import { html } from '@partner-loyalty/runtime/pages/html.ts';
import MiniSearch from 'minisearch';
import { type Entry, entriesOf, INDEX_OPTIONS, searchIndex } from './search.ts';

const TEXT = html`<h1 id="a">Guide ${'<1>'}</h1><p>First</p>
<h2 id="b"><code>b</code> second</h2><p>Text of it</p>
<div class="type" id="type"><h4><span>object</span> Type</h4>
<dl><dt id="field"><code>field(first: <a href="#x">Int</a>)</code></dt><dd>What it is
<details class="example"><summary>Example</summary><pre id="no">secret</pre></details></dd></dl></div>
<h2 id="c">Third</h2>`;
const PAGE = `<h1 id="frame">Frame</h1><div class="text">${TEXT.html}</div>`;

test('each element with an ID is an entry, below what contains it, without the examples', () => {
  expect(entriesOf('/docs', PAGE)).toEqual([
    { id: '/docs#a', title: 'Guide <1>', place: '', text: 'First' },
    { id: '/docs#b', title: 'b second', place: 'Guide <1>', text: 'Text of it' },
    { id: '/docs#type', title: 'object Type', place: 'Guide <1> › b second', text: '' },
    {
      id: '/docs#field',
      title: 'field(first: Int)',
      place: 'Guide <1> › b second › object Type',
      text: 'What it is',
    },
    { id: '/docs#c', title: 'Third', place: 'Guide <1>', text: '' },
  ]);
});

test('a beginning of a word, or one with a typing error, finds it', async () => {
  const text = await searchIndex(new Map([['/docs', PAGE]]));
  const index = MiniSearch.loadJSON<Entry>(text, INDEX_OPTIONS);
  const ids = (query: string) => index.search(query).map(({ id }) => id);
  expect(ids('fiel')).toEqual(['/docs#field']);
  expect(ids('therd')).toEqual(['/docs#c']);
  expect(ids('secret')).toEqual([]);
});
