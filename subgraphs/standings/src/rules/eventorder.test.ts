// The order of events from two outboxes.
import { mergeSources, type Source } from './eventorder.ts';

type Timed = { occurredAt: number };
const source = (times: number[], until = Number.POSITIVE_INFINITY): Source<Timed> => ({
  events: times.map((occurredAt) => ({ occurredAt })),
  until,
});
const merge = (members: Source<Timed>, own: Source<Timed>, ownUntil = Number.POSITIVE_INFINITY) => {
  const { events, ...taken } = mergeSources(members, own, ownUntil);
  return { times: events.map(({ occurredAt }) => occurredAt), ...taken };
};

test('the earlier event comes first, and each outbox keeps its order', () => {
  expect(merge(source([1, 5, 3]), source([2, 4]))).toEqual({
    times: [1, 2, 4, 5, 3],
    members: 3,
    own: 2,
  });
});

test('an event waits while the other outbox may still have an earlier one', () => {
  expect(merge(source([1, 5], 5), source([2, 6]))).toEqual({
    times: [1, 2, 5],
    members: 2,
    own: 1,
  });
  expect(merge(source([1, 9]), source([2, 3], 3))).toEqual({
    times: [1, 2, 3],
    members: 1,
    own: 2,
  });
});

test('an own event that was made after members were asked waits', () => {
  expect(merge(source([1, 9]), source([2, 8]), 5)).toEqual({
    times: [1, 2, 9],
    members: 2,
    own: 1,
  });
});

test('whatever the clocks say, the outbox that ends first gives at least one event', () => {
  expect(merge(source([7, 8], 3), source([5]))).toEqual({ times: [5, 7], members: 1, own: 1 });
});
