// Takings that go to a counter together, of which some fail.
import { batched } from './counters.batch.ts';
import type { Count, Counter } from './counters.ts';

/** Counts, but for subjects whose name says how they fail. */
function breakable() {
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

const outcome = (taking: Promise<Count>) =>
  taking.then(({ consumedPoints }) => consumedPoints, String);

test('a subject that cannot be counted fails for those who took from it, and for nobody else', async () => {
  const { counter, sent } = breakable();
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

test('the turn after a failure counts on', async () => {
  const { counter } = breakable();
  const { add } = batched(counter);
  expect(await outcome(add('throws', 1))).toBe('Error: thrown');
  expect(await outcome(add('one', 2))).toBe(2);
});
