// Groups of keys that each fit into a request.
import { batchesOf } from './partner.ts';

test('a group has at most 100 keys, and room for a document within 64 KiB', () => {
  const short = Array.from({ length: 250 }, (_, index) => ({ memberId: `m-${index}` }));
  expect(batchesOf(short).map(({ length }) => length)).toEqual([100, 100, 50]);
  const long = Array.from({ length: 100 }, () => ({ externalId: '界'.repeat(255) }));
  const groups = batchesOf(long);
  expect(groups.flat()).toEqual(long);
  for (const group of groups)
    expect(Buffer.byteLength(JSON.stringify(group))).toBeLessThanOrEqual(60_001);
  expect(batchesOf([{ externalId: 'a'.repeat(100_000) }])).toHaveLength(1);
  expect(batchesOf([])).toEqual([]);
});
