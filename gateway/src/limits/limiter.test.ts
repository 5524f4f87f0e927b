// What a process knows of budgets between the answers of their counters.
import { Estimates } from './limiter.ts';

const BUDGET = 10;

function learnt(remaining: number): Estimates {
  const estimates = new Estimates();
  estimates.consuming('k', 1);
  estimates.consumed('k', 1, remaining);
  return estimates;
}

test('a budget is plenty if half of it is left after the cost', () => {
  expect([5, 6, 10].map((left) => learnt(left).isPlenty('k', 1, BUDGET))).toEqual([
    false,
    true,
    true,
  ]);
  expect(learnt(10).isPlenty('k', 6, BUDGET)).toBe(false);
});

test('nothing is known of a subject before its first answer, nor from those of others', () => {
  const estimates = learnt(10);
  estimates.consuming('new', 1);
  expect(['new', 'other'].map((subject) => estimates.isPlenty(subject, 1, BUDGET))).toEqual([
    false,
    false,
  ]);
});

test('what is not answered yet counts as used, however late and in whatever order', () => {
  const estimates = learnt(10);
  const taken: boolean[] = [];
  for (let i = 0; i < 7; i++) {
    taken.push(estimates.isPlenty('k', 1, BUDGET));
    estimates.consuming('k', 1);
  }
  expect(taken).toEqual([true, true, true, true, true, false, false]);
  // The answer to the first, while six are on their way.
  estimates.consumed('k', 1, 9);
  expect(estimates.isPlenty('k', 1, BUDGET)).toBe(false);
  for (const remaining of [8, 7, 6]) estimates.consumed('k', 1, remaining);
  expect(estimates.isPlenty('k', 1, BUDGET)).toBe(false);
});

test('an answer that another process has made smaller counts', () => {
  const estimates = learnt(10);
  estimates.consuming('k', 1);
  estimates.consumed('k', 1, 3);
  expect(estimates.isPlenty('k', 1, BUDGET)).toBe(false);
});
