// Places for requests: how many there are, who gets the next, and who gives up.
import { createPlaces } from './places.ts';

/** Asks for places, and notes who has got one. */
function start(options: Parameters<typeof createPlaces>[0] = {}) {
  const place = createPlaces({ places: 2, ofOwner: 1, ...options });
  const got: string[] = [];
  const ask = (owner: string, signal = new AbortController().signal, part = '') => {
    const found = place({ owner, part, signal });
    found.then(() => got.push(owner + part)).catch(() => {});
    return found;
  };
  return { got, ask };
}

test('two at a time, one of an owner, in the order of arrival', async () => {
  const { got, ask } = start();
  const [first, second] = [ask('a'), ask('a')];
  const [third, fourth] = [ask('b'), ask('c')];
  const [leaveFirst, leaveThird] = [await first, await third];
  expect(got).toEqual(['a', 'b']);
  leaveThird();
  const leaveFourth = await fourth;
  expect(got).toEqual(['a', 'b', 'c']);
  leaveFirst();
  leaveFourth();
  (await second)();
  expect(got).toEqual(['a', 'b', 'c', 'a']);
});

test('whoever waits too long is refused, and takes no place later', async () => {
  const { got, ask } = start({ waitMs: 1 });
  const leave = [await ask('a'), await ask('b')];
  await expect(ask('c')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  for (const each of leave) each();
  (await ask('d'))();
  expect(got).toEqual(['a', 'b', 'd']);
});

test('the place of a client that has gone while it waited is for the next', async () => {
  const { got, ask } = start();
  const gone = new AbortController();
  const leave = await ask('a');
  await ask('b');
  const waiting = ask('c', gone.signal);
  const next = ask('d');
  gone.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  leave();
  await next;
  await expect(ask('e', gone.signal)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(got).toEqual(['a', 'b', 'd']);
});

test('an owner with hundreds that wait leaves every other place to others, and a part of it to other parts', async () => {
  const { got, ask } = start({ places: 4, ofOwner: 4 });
  const all = [
    ...Array.from({ length: 300 }, () => ask('a', undefined, '1')),
    ...Array.from({ length: 2 }, () => ask('a', undefined, '2')),
    ...Array.from({ length: 3 }, () => ask('b')),
  ];
  await Promise.all(all.map(async (each) => (await each)()));
  expect(got.slice(0, 11)).toEqual([
    ...['a1', 'a1', 'a1', 'a1', 'a1'],
    ...['b', 'a2', 'b', 'a1', 'b', 'a2'],
  ]);
  expect(got).toHaveLength(305);
});

test('without a limit for all, an owner does one thing at a time and waits for no other owner', async () => {
  const { got, ask } = start({ places: Number.POSITIVE_INFINITY });
  const [first, second] = [ask('a'), ask('a')];
  await Promise.all(['b', 'c'].map((owner) => ask(owner)));
  expect(got).toEqual(['a', 'b', 'c']);
  (await first)();
  await second;
  expect(got).toEqual(['a', 'b', 'c', 'a']);
});
