// What a rollback of a subgraph brings back, from the changes that versions name.
import { versionBefore } from './history.ts';

const before = (name: string, ...changes: string[]) =>
  versionBefore(
    name,
    changes.map((change, index) => ({ version: index + 1, change })).toReversed(),
  );

test.each<[string, string[], number | undefined]>([
  ['nothing, if the subgraph was never published', ['publish other'], undefined],
  ['the graph before its first publication', ['publish other', 'publish offers'], 1],
  ['the committed graph, if that was the first', ['publish offers'], 0],
  [
    'the publication before, whoever published since',
    ['publish offers', 'publish offers', 'publish other'],
    1,
  ],
  ['what was before a removal', ['publish offers', 'remove offers'], 1],
  ['the removal, after a new beginning', ['publish offers', 'remove offers', 'publish offers'], 2],
  [
    'nothing that was rolled back from',
    ['publish offers', 'publish offers', 'rollback offers', 'publish offers'],
    1,
  ],
  [
    'one earlier each time',
    ['publish offers', 'publish offers', 'publish offers', 'rollback offers'],
    1,
  ],
  [
    'nothing, once all is rolled back',
    ['publish offers', 'publish offers', 'rollback offers', 'rollback offers'],
    undefined,
  ],
  [
    'what the whole graph had when it went back',
    ['publish offers', 'publish offers', 'publish offers', 'rollback to 2'],
    1,
  ],
  [
    'nothing, once the whole graph is the committed one',
    ['publish offers', 'rollback to 0'],
    undefined,
  ],
])('a rollback brings back %s', (_what, changes, version) => {
  expect(before('offers', ...changes)).toBe(version);
});

test('a subgraph may be called like a word of a change', () => {
  expect(before('to', 'publish to', 'publish to', 'rollback to')).toBe(0);
});
