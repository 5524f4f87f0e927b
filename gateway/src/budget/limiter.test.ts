// What a process knows of budgets between the answers of their counters.
import { Estimates } from './limiter.ts';

const BUDGET = 10;

function learnt(consumed: number): Estimates {
  const estimates = new Estimates();
  estimates.consuming('k', 1);
  estimates.consumed('k', 1, consumed);
  return estimates;
}

test('a budget is plenty if half of it is left after the cost', () => {
  expect([5, 4, 0].map((used) => learnt(used).isPlenty('k', 1, BUDGET))).toEqual([
    false,
    true,
    true,
  ]);
  expect(learnt(0).isPlenty('k', 6, BUDGET)).toBe(false);
});

test('nothing is known of a subject before its first answer, nor from those of others', () => {
  const estimates = learnt(0);
  estimates.consuming('new', 1);
  expect(['new', 'other'].map((subject) => estimates.isPlenty(subject, 1, BUDGET))).toEqual([
    false,
    false,
  ]);
});

test('what is not answered yet counts as used', () => {
  const estimates = learnt(0);
  const taken: boolean[] = [];
  for (let i = 0; i < 7; i++) {
    taken.push(estimates.isPlenty('k', 1, BUDGET));
    estimates.consuming('k', 1);
  }
  expect(taken).toEqual([true, true, true, true, true, false, false]);
  // The answer to the first, while six are on their way.
  estimates.consumed('k', 1, 1);
  expect(estimates.isPlenty('k', 1, BUDGET)).toBe(false);
  for (const consumed of [2, 3, 4]) estimates.consumed('k', 1, consumed);
  expect(estimates.isPlenty('k', 1, BUDGET)).toBe(false);
});

test('what other processes consumed counts as soon as an answer shows it', () => {
  const estimates = learnt(0);
  estimates.consuming('k', 1);
  estimates.consumed('k', 1, 7);
  expect(estimates.isPlenty('k', 1, BUDGET)).toBe(false);
});

test('a budget that was lowered meanwhile', () => {
  expect(learnt(10).isPlenty('k', 1, 100)).toBe(true);
  expect(learnt(10).isPlenty('k', 1, BUDGET)).toBe(false);
});
