// Cursors: only good for their owner, and whatever else comes as one.
import fc from 'fast-check';
import { decodeCursor, encodeCursor } from './cursor.ts';

const PLACE = { occurredAtMs: 1_767_225_600_000, partnerId: 'inn', activityId: 'a-1' };
const OWNER = ['partner', 'inn', 'ada'];

test('a cursor leads back to its place, whatever the IDs are', () => {
  const id = fc.string({ minLength: 1, maxLength: 128, unit: 'grapheme' });
  fc.assert(
    fc.property(
      fc.maxSafeInteger(),
      id,
      id,
      id,
      (occurredAtMs, partnerId, activityId, memberId) => {
        const place = { occurredAtMs, partnerId, activityId };
        const owner = ['partner', partnerId, memberId];
        expect(decodeCursor(encodeCursor(place, owner), owner)).toEqual(place);
      },
    ),
  );
});

test('a cursor is good for no other partner, member or kind of caller', () => {
  const cursor = encodeCursor(PLACE, OWNER);
  for (const other of [
    ['partner', 'spa', 'ada'],
    ['partner', 'inn', 'bob'],
    ['member', 'inn', 'ada'],
    ['member', '', 'ada'],
    ['partner', 'innada', ''],
  ])
    expect(decodeCursor(cursor, other)).toBeUndefined();
});

test('whatever is changed, cut or made up is no cursor', () => {
  const cursor = encodeCursor(PLACE, OWNER);
  for (let at = 0; at < cursor.length; at += 1) {
    const changed = cursor[at] === 'A' ? 'B' : 'A';
    expect(
      decodeCursor(cursor.slice(0, at) + changed + cursor.slice(at + 1), OWNER),
    ).toBeUndefined();
    expect(decodeCursor(cursor.slice(0, at), OWNER)).toBeUndefined();
  }
  for (const text of [`${cursor}=`, ` ${cursor}`, `${cursor}!`, '{}', 'W10', 'x'.repeat(60_000)])
    expect(decodeCursor(text, OWNER)).toBeUndefined();
});
