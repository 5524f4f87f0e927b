// Which names get series of their own, whatever callers send.
import { createLabels } from './labels.ts';

test('a name is a label from the use on that makes it known, and for good', () => {
  const labelOf = createLabels(2, 3);
  expect(['a', 'a', 'a', 'a'].map(labelOf)).toEqual(['other', 'other', 'a', 'a']);
  expect(['b', 'b', 'b', 'c', 'c', 'c', 'c', 'a'].map(labelOf)).toEqual([
    'other',
    'other',
    'b',
    'other',
    'other',
    'other',
    'other',
    'a',
  ]);
  expect(labelOf(undefined)).toBe('other');
});

test('a flood of names neither becomes known nor keeps a busy name from it', () => {
  const labelOf = createLabels(50, 100);
  const ofFlood = new Set<string>();
  for (let n = 0; n < 100; n += 1) {
    labelOf('busy');
    for (let flood = 0; flood < 900; flood += 1) ofFlood.add(labelOf(`${n}.${flood}`));
  }
  expect([...ofFlood]).toEqual(['other']);
  expect(labelOf('busy')).toBe('busy');
});
