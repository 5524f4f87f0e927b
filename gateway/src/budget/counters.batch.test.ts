// Batches of consumptions, some of which fail.
import { batched } from './counters.batch.ts';
import type { Count, Counter } from './counters.ts';

/** A counter that fails for subjects named after a way to fail. */
function failingCounter() {
  const sums = new Map<string, number>();
  const sent: string[] = [];
  const counter: Counter = {
    add(subject, points) {
      sent.push(`${subject} ${points}`);
      if (subject === 'throws') throw new Error('thrown');
      if (subject === 'rejects') return Promise.reject(new Error('rejected'));
      sums.set(subject, (sums.get(subject) ?? 0) + points);
      return Promise.resolve({ consumedPoints: sums.get(subject) ?? 0, msBeforeNext: 1 });
    },
  };
  return { counter, sent };
}

const outcome = (consumption: Promise<Count>) =>
  consumption.then(({ consumedPoints }) => consumedPoints, String);

test('a subject that cannot be counted fails for its own consumers alone', async () => {
  const { counter, sent } = failingCounter();
  const { add } = batched(counter);
  const subjects = ['one', 'throws', 'two', 'rejects', 'one', 'throws', 'rejects', 'two'];
  const outcomes = await Promise.all(
    subjects.map((subject, index) => outcome(add(subject, index + 1))),
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
  expect(await outcome(add('throws', 1))).toBe('Error: thrown');
  expect(await outcome(add('one', 2))).toBe(2);
});
