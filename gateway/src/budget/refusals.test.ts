// What a process knows of refused credentials before their counters answer.
import { createRefusals } from './refusals.ts';

const ADDRESS = '2001:db8:1:2::1';

function setUp() {
  let time = 0;
  const refusals = createRefusals(2, () => time);
  const count = (consumedPoints: number, address = ADDRESS) =>
    refusals.count(address, async () => ({ consumedPoints, isWithin: true, msBeforeNext: 1_000 }));
  const pass = (ms: number) => {
    time += ms;
  };
  return { refusals, count, pass };
}

test('an address is over its limit from the refusal beyond it until the window ends', async () => {
  const { refusals, count, pass } = setUp();
  await count(2);
  expect([refusals.isOver(ADDRESS), refusals.mayBeOver(ADDRESS)]).toEqual([false, false]);
  await count(3);
  pass(999);
  expect(refusals.isOver(ADDRESS)).toBe(true);
  expect(refusals.isOver('2001:db8:1:2:ffff::')).toBe(true);
  expect(refusals.isOver('2001:db8:1:3::1')).toBe(false);
  pass(1);
  expect([refusals.isOver(ADDRESS), refusals.mayBeOver(ADDRESS)]).toEqual([false, false]);
});

test('the time that a counter takes to answer does not make its window longer', async () => {
  const { refusals, pass } = setUp();
  await refusals.count(ADDRESS, async () => {
    pass(600);
    return { consumedPoints: 3, isWithin: true, msBeforeNext: 1_000 };
  });
  pass(399);
  expect(refusals.isOver(ADDRESS)).toBe(true);
  pass(1);
  expect(refusals.isOver(ADDRESS)).toBe(false);
});

test('what is pending may exceed the limit, but is no refusal; failures are forgotten', async () => {
  const { refusals, count } = setUp();
  await count(1);
  const ends: (() => void)[] = [];
  const pending = [
    refusals.duringLookUp(ADDRESS, () => new Promise<void>((resolve) => ends.push(resolve))),
    refusals.count(ADDRESS, () => new Promise((_, reject) => ends.push(() => reject('down')))),
  ];
  expect([refusals.isOver(ADDRESS), refusals.mayBeOver(ADDRESS)]).toEqual([false, true]);
  for (const end of ends) end();
  await Promise.allSettled(pending);
  expect(() =>
    refusals.duringLookUp(ADDRESS, () => {
      throw new Error('damaged');
    }),
  ).toThrow('damaged');
  expect(refusals.duringLookUp(ADDRESS, () => 'found')).toBe('found');
  expect(refusals.mayBeOver(ADDRESS)).toBe(false);
});

test('of a flood of addresses, those seen last are remembered', async () => {
  const { refusals, count } = setUp();
  const addressOf = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
  for (let n = 0; n <= 20_000; n += 1) await count(3, addressOf(n));
  const known = [0, 1, 20_000].map((n) => refusals.isOver(addressOf(n)));
  expect(known).toEqual([false, true, true]);
});
