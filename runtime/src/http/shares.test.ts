// The shares of owners: requests in progress, turns, and memory for responses.
import { createShares, type InProgress, PEOPLE, SIGNER } from './shares.ts';

const MIB = 1024 * 1024;

let refusals: number;
let shares: ReturnType<typeof createShares>;
let open: InProgress[];

beforeEach(() => {
  refusals = 0;
  open = [];
  shares = createShares(() => {
    refusals += 1;
  });
});
afterEach(() => {
  for (const request of open) request.end();
});

function begin(owner: string | undefined, address = ''): InProgress {
  const request = shares.begin(owner, address);
  open.push(request);
  return request;
}
const fill = (owner: string, count: number) => Array.from({ length: count }, () => begin(owner));
const refused = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });

/** Uses up the time of this tick, so that what begins now has to wait. */
function busy(owner: string): void {
  const until = performance.now() + 20;
  begin(owner).turn();
  while (performance.now() < until);
}

test('an owner has a quarter of all requests in progress, and others have theirs', () => {
  fill('inn', 500);
  expect(() => begin('inn')).toThrow(refused);
  expect(refusals).toBe(1);
  begin('air');
  open.shift()?.end();
  begin('inn');
});

test('everybody without a valid credential is one owner', () => {
  for (let n = 0; n < 500; n += 1) begin(undefined, `192.0.2.${n}`);
  expect(() => begin(undefined, '198.51.100.1')).toThrow(refused);
});

test('an address without a valid credential has its part of that share, whatever three others take', () => {
  const flood = () => {
    for (let n = 0; n < 1_400; n += 1)
      try {
        begin(undefined, `192.0.2.${n % 3}`);
      } catch {}
  };
  flood();
  expect(refusals).toBe(900);
  for (let n = 0; n < 125; n += 1) begin(undefined, '198.51.100.1');
  expect(() => begin(undefined, '198.51.100.1')).toThrow(refused);
  expect(refusals).toBe(901);
  flood();
  expect(refusals).toBe(901 + 1_400);
});

test('people who are signed in take one share together, and no partner’s, and sites divide it', () => {
  for (let n = 0; n < 2_100; n += 1)
    try {
      begin(PEOPLE, `198.51.100.${n % 4}`);
    } catch {}
  expect(refusals).toBe(1_600);
  for (let n = 0; n < 100; n += 1) begin(PEOPLE, '203.0.113.9');
  expect(() => begin(PEOPLE, '203.0.113.9')).toThrow(refused);
  fill('inn', 500);
  fill('air', 500);
});

test('an address that comes later takes the place of a waiting request of the one with most', async () => {
  busy('inn');
  const wait = (address: string) =>
    begin(undefined, address)
      .turn()
      ?.catch((error) => error);
  wait('198.51.100.1');
  const waiting = Array.from({ length: 499 }, () => wait('192.0.2.1'));
  begin(undefined, '203.0.113.1');
  expect(refusals).toBe(1);
  expect(await waiting.at(-1)).toEqual(refused);
});

test('requests that are signed have no limit', () => {
  for (let n = 0; n < 3_000; n += 1) open.push(shares.begin(SIGNER, ''));
  begin('inn');
  expect(refusals).toBe(0);
});

test('with 2,000 in progress, an owner with few takes the place of the newest waiting one of the owner with most', async () => {
  fill('inn', 498);
  busy('inn');
  const last = begin('inn');
  const outcome = last.turn()?.then(
    () => 'its turn',
    () => 'refused',
  );
  for (const owner of ['air', 'sea', 'car']) fill(owner, 500);
  expect(() => begin('air')).toThrow(refused);
  begin('new');
  expect(await outcome).toBe('refused');
  expect(refusals).toBe(2);
});

test('a request that has begun is not ended for another', async () => {
  for (const owner of ['inn', 'air', 'sea', 'car'])
    for (const each of fill(owner, 500)) await each.turn();
  begin('new');
  expect(refusals).toBe(0);
});

test('a request that ends while it waits is given up', async () => {
  busy('inn');
  const request = begin('inn');
  const waiting = request.turn();
  request.end();
  await expect(waiting).rejects.toEqual(refused);
});

test('a request that waits for several turns at once has each of them', async () => {
  const large = [begin('inn'), begin('inn')];
  for (const each of large) await each.turn(true);
  const request = begin('inn');
  const late = request.turn(true);
  busy('inn');
  const again = [request.turn(), request.turn()];
  large[0]?.end();
  await Promise.all([late, ...again]);
});

test('an owner has two large requests at a time, eight in all, until their responses are made', async () => {
  const grown: string[] = [];
  const grow = (owner: string) => {
    const request = begin(owner);
    request.turn(true)?.then(() => grown.push(owner));
    return request;
  };
  const settled = () => new Promise((resolve) => setTimeout(resolve, 20));
  const members = ['ada', 'bob', 'eve'].map((one) => `member ${one}`);
  const others = ['air', 'air', 'sea', 'sea', ...members, 'car'];
  const [first, second] = ['inn', 'inn', 'inn', ...others].map(grow);
  await settled();
  const both = members.slice(0, 2);
  expect(grown.sort()).toEqual(['air', 'air', 'inn', 'inn', ...both, 'sea', 'sea']);
  first?.takes(1_000);
  await settled();
  expect(grown.slice(8)).toEqual(['inn']);
  second?.end();
  second?.turn(true);
  await settled();
  expect(grown.slice(8)).toEqual(['inn', 'car']);
});

describe('memory', () => {
  test('an owner has 16 MiB, and then waits until it has less', async () => {
    const first = begin('inn');
    expect(first.reserve(15 * MIB)).toBeUndefined();
    const second = begin('inn');
    // It is below its share.
    expect(second.reserve(2 * MIB)).toBeUndefined();
    const third = begin('inn');
    const waiting = third.reserve(MIB);
    expect(waiting).toBeInstanceOf(Promise);
    expect(shares.isStarved('inn')).toBe(true);
    const other = begin('air');
    expect(other.reserve(10 * MIB)).toBeUndefined();
    second.end();
    await waiting;
    expect(shares.isStarved('inn')).toBe(false);
  });

  test('the share of an owner is smaller with others who have any', () => {
    for (let n = 0; n < 8; n += 1) expect(begin(`owner ${n}`).reserve(8 * MIB)).toBeUndefined();
    expect(begin('owner 0').reserve(MIB)).toBeInstanceOf(Promise);
    expect(begin('another').reserve(7 * MIB)).toBeUndefined();
  });

  test('those who wait go on in the order in which they came', async () => {
    const order: number[] = [];
    const large = begin('inn');
    large.reserve(16 * MIB);
    const waiting = [1, 2, 3].map((n) =>
      begin('inn')
        .reserve(MIB)
        ?.then(() => order.push(n)),
    );
    large.end();
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
  });

  test('bodies that are parsed have as much of their own until their response is text', async () => {
    const first = begin('inn');
    expect(first.start(16 * MIB)).toBeUndefined();
    const second = begin('inn');
    const waiting = second.start(MIB);
    expect(waiting).toBeInstanceOf(Promise);
    // Whoever has its body never waits for those that do not.
    expect(first.reserve(MIB)).toBeUndefined();
    expect(begin('air').start(MIB)).toBeUndefined();
    first.takes(1_000);
    await waiting;
    expect(begin('inn').start(MIB)).toBeUndefined();
  });

  test('a response takes what it has, not what was reserved', async () => {
    const request = begin('inn');
    request.reserve(16 * MIB);
    const waiting = begin('inn').reserve(MIB);
    request.takes(1_000);
    await waiting;
    expect(begin('inn').reserve(MIB)).toBeUndefined();
  });

  test('a request that has ended takes none', () => {
    const request = begin('inn');
    request.end();
    expect(() => request.reserve(16 * MIB)).toThrow(refused);
    expect(begin('inn').reserve(MIB)).toBeUndefined();
  });

  test('beyond 64 MiB in all, the owner with most is named', () => {
    for (const owner of ['air', 'sea', 'car']) begin(owner).takes(16 * MIB);
    begin('inn').takes(15 * MIB);
    expect(shares.overfull()).toBeUndefined();
    begin('inn').takes(2 * MIB);
    expect(shares.overfull()).toBe('inn');
  });
});
