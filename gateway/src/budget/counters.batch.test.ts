// Batches of consumptions, some of which fail.
import { batched } from './counters.batch.ts';
import { type Count, type Counter, createMemoryCounters } from './counters.ts';

/** A counter that fails for subjects named after a way to fail. */
function failingCounter() {
  const sums = new Map<string, number>();
  const sent: string[] = [];
  const counter: Counter = {
    add(subject, { points }) {
      sent.push(`${subject} ${points}`);
      if (subject === 'throws') throw new Error('thrown');
      if (subject === 'rejects') return Promise.reject(new Error('rejected'));
      sums.set(subject, (sums.get(subject) ?? 0) + points);
      const consumedPoints = sums.get(subject) ?? 0;
      return Promise.resolve({ consumedPoints, isWithin: true, msBeforeNext: 1 });
    },
  };
  return { counter, sent };
}

const taking = (points: number, limit = 100) => ({ points, limit, refused: 1 });

const outcome = (consumption: Promise<Count>) =>
  consumption.then(({ consumedPoints }) => consumedPoints, String);

test('a subject that cannot be counted fails for its own consumers alone', async () => {
  const { counter, sent } = failingCounter();
  const { add } = batched(counter);
  const subjects = ['one', 'throws', 'two', 'rejects', 'one', 'throws', 'rejects', 'two'];
  const outcomes = await Promise.all(
    subjects.map((subject, index) => outcome(add(subject, taking(index + 1)))),
  );
  expect(outcomes).toEqual([
    1,
    'Error: thrown',
    3,
    'Error: rejected',
    6,
    'Error: thrown',
    'Error: rejected',
    11,
  ]);
  expect(sent).toEqual(['one 6', 'throws 8', 'two 11', 'rejects 11']);
});

test('the tick after a failure counts as usual', async () => {
  const { counter } = failingCounter();
  const { add } = batched(counter);
  expect(await outcome(add('throws', taking(1)))).toBe('Error: thrown');
  expect(await outcome(add('one', taking(2)))).toBe(2);
});

test('beyond the limit, each consumption of a tick is counted by itself', async () => {
  const { add } = batched(createMemoryCounters('sandbox').counter('key', 60));
  const counts = await Promise.all([4, 3, 5, 1].map((points) => add('one', taking(points, 10))));
  expect(counts.map(({ consumedPoints, isWithin }) => [consumedPoints, isWithin])).toEqual([
    [4, true],
    [7, true],
    [8, false],
    [9, true],
  ]);
});
