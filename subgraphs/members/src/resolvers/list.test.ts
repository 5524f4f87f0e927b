// A partner's list of members, through the subgraph: its order, pages, cursors and arguments.
import { setTimeout } from 'node:timers/promises';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createExecutor } from '@partner-loyalty/runtime/subgraph/executor.ts';
import { address, memberImport, newPlace, type Place } from '../../test/engine.ts';
import { createMembers, type MembersStore } from '../index.ts';

type Edge = {
  memberId: string;
  node: { id: string; email: string; externalId: string | null } | null;
  cursor: string;
  updatedAt: string;
  status: string;
};
type Page = {
  edges: Edge[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string;
  };
};

const QUERY = `query ($first: Int, $after: String, $updatedSince: DateTime, $status: EnrollmentStatus) {
  members(first: $first, after: $after, updatedSince: $updatedSince, status: $status) {
    edges { memberId node { id email externalId } cursor updatedAt status }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

describe('the list of members', () => {
  let place: Place;
  let store: MembersStore;
  let shiftMs: number;
  let execute: ReturnType<typeof createExecutor>;

  beforeEach(async () => {
    shiftMs = 0;
    const { now } = Date;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + shiftMs);
    place = newPlace();
    store = await place.open();
    execute = executorOf(store);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await place.release();
  });

  const ask = (query: string, variables: object, partnerId: string) =>
    execute({
      query,
      variables: variables as Record<string, unknown>,
      caller: { kind: 'partner', partnerId },
      requestId: 'r',
    });
  /** The page once everything that was written before shows. */
  const page = async (variables: object = {}, partnerId = 'inn', query = QUERY): Promise<Page> => {
    shiftMs += 2_000;
    const { data, errors } = await ask(query, variables, partnerId);
    expect(errors).toBeUndefined();
    return (data as { members: Page }).members;
  };
  const idsOf = ({ edges }: Page) => edges.map(({ memberId }) => memberId);
  const add = (memberId: string, partnerId = 'inn') =>
    store.importMembers([
      memberImport(`${memberId}@example.com`, { memberId, enrollments: [{ partnerId }] }),
    ]);

  test('members are in the order of their last change, then of their IDs', async () => {
    shiftMs = 10_000;
    jest.spyOn(Date, 'now').mockReturnValue(1_800_000_000_000);
    for (const memberId of ['c', 'a', '\u{1f3e8}', '\ufb01', 'b']) await add(memberId);
    jest.spyOn(Date, 'now').mockReturnValue(1_800_000_000_001);
    await add('0');
    jest.spyOn(Date, 'now').mockImplementation(() => 1_800_000_010_000 + shiftMs);
    for (const query of [{}, { status: null }])
      expect(idsOf(await page(query))).toEqual(['a', 'b', 'c', '\ufb01', '\u{1f3e8}', '0']);
  });

  test('a change moves a member to the end; another partner and its changes do not show', async () => {
    await add('ada');
    await add('bob');
    await add('eve', 'spa');
    expect(idsOf(await page())).toEqual(['ada', 'bob']);
    await store.changeExternalId('inn', 'ada', 'A-1');
    await store.importMembers([
      memberImport('bob@example.com', { memberId: 'bob', enrollments: [{ partnerId: 'spa' }] }),
    ]);
    const { edges } = await page();
    expect(edges).toMatchObject([
      { memberId: 'bob', status: 'ACTIVE', node: { id: 'bob', externalId: null } },
      { memberId: 'ada', node: { email: 'ada@example.com', externalId: 'A-1' } },
    ]);
    expect(idsOf(await page({}, 'spa'))).toEqual(['eve', 'bob']);
    expect(idsOf(await page({}, 'bar'))).toEqual([]);
  });

  test('a node is what the partner sees, and a change that it does not see moves nobody', async () => {
    for (const partnerId of ['inn', 'spa'])
      await store.enroll({
        partnerId,
        address: address('ada@example.com'),
        firstName: `Ada of ${partnerId}`,
      });
    const query = '{ members { edges { memberId node { firstName } cursor updatedAt } } }';
    const [before] = (await page({}, 'inn', query)).edges;
    expect(before?.node).toEqual({ firstName: 'Ada of inn' });
    await store.updateNames('spa', before?.memberId ?? '', { firstName: 'Eve', lastName: null });
    expect((await page({}, 'inn', query)).edges).toEqual([before]);
    expect((await page({}, 'spa', query)).edges).toMatchObject([{ node: { firstName: 'Eve' } }]);
  });

  test('status is ACTIVE unless it is given; null is both, and an ended one has no node', async () => {
    await add('ada');
    await add('bob');
    // Changes of one millisecond are in the order of IDs.
    await setTimeout(2);
    await store.endEnrollment('inn', 'ada');
    expect(idsOf(await page())).toEqual(['bob']);
    expect((await page({ status: 'ENDED' })).edges).toMatchObject([
      { memberId: 'ada', status: 'ENDED', node: null },
    ]);
    const both = await page({ status: null, first: 1 });
    expect(idsOf(both)).toEqual(['bob']);
    expect(both.pageInfo.hasNextPage).toBe(true);
    const { endCursor: after } = both.pageInfo;
    expect(idsOf(await page({ status: null, after }))).toEqual(['ada']);
    await store.enroll({ partnerId: 'inn', address: address('ada@example.com') });
    expect(idsOf(await page({ status: 'ENDED' }))).toEqual([]);
    expect(idsOf(await page({ after }))).toEqual(['ada']);
  });

  test('pages follow each other; who changes while they are read shows again, and nobody is left out', async () => {
    for (const memberId of ['a', 'b', 'c', 'd', 'e']) await add(memberId);
    const first = await page({ first: 2 });
    expect(idsOf(first)).toEqual(['a', 'b']);
    const { pageInfo, edges } = first;
    expect(pageInfo).toEqual({
      hasNextPage: true,
      hasPreviousPage: false,
      startCursor: edges[0]?.cursor,
      endCursor: edges[1]?.cursor,
    });
    await store.changeExternalId('inn', 'a', 'A-1');
    await store.changeExternalId('inn', 'c', 'C-1');
    const second = await page({ first: 2, after: pageInfo.endCursor });
    expect(idsOf(second)).toEqual(['d', 'e']);
    expect(second.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
    const third = await page({ first: 2, after: second.pageInfo.endCursor });
    expect(idsOf(third)).toEqual(['a', 'c']);
    expect(third.pageInfo.hasNextPage).toBe(false);
  });

  test('updatedSince is inclusive, in any zone', async () => {
    await add('ada');
    shiftMs += 10;
    await add('bob');
    const [ada, bob] = (await page()).edges;
    expect(idsOf(await page({ updatedSince: ada?.updatedAt }))).toEqual(['ada', 'bob']);
    expect(idsOf(await page({ updatedSince: bob?.updatedAt }))).toEqual(['bob']);
    const local = bob?.updatedAt.replace('Z', '+00:00');
    expect(idsOf(await page({ updatedSince: local, after: ada?.cursor }))).toEqual(['bob']);
    expect(idsOf(await page({ updatedSince: ada?.updatedAt, after: ada?.cursor }))).toEqual([
      'bob',
    ]);
  });

  test('a change that was committed late shows after the pages that were read meanwhile', async () => {
    await add('ada');
    const { endCursor } = (await page()).pageInfo;
    const at = Date.now();
    // Each look at the clock is 500 ms after the one before, until the second stamp.
    let looks = 0;
    jest.spyOn(Date, 'now').mockImplementation(() => at + 500 * Math.min(looks++, 6));
    await store.changeExternalId('inn', 'ada', 'A-1');
    jest.spyOn(Date, 'now').mockImplementation(() => at + 3_000 + shiftMs);
    const [edge] = (await page({ after: endCursor })).edges;
    expect(edge?.memberId).toBe('ada');
    expect(Date.parse(edge?.updatedAt ?? '')).toBeGreaterThan(at + 1_000);
    // Being stamped again is no event.
    const pending = await store.events.pending(10);
    expect(pending.map(({ event }) => event.type)).toEqual([
      'MEMBER_ENROLLED',
      'EXTERNAL_ID_CHANGED',
    ]);
  });

  test('a page has 100 entries by default, and up to 500', async () => {
    const imports = Array.from({ length: 510 }, (_, index) =>
      memberImport(`m${index}@example.com`, {
        memberId: `m-${String(index).padStart(3, '0')}`,
        enrollments: [{ partnerId: 'inn' }],
      }),
    );
    await store.importMembers(imports);
    expect((await page({ first: null })).edges).toHaveLength(100);
    const first = await page({ first: 500 });
    expect(first.edges).toHaveLength(500);
    const last = await page({ first: 500, after: first.pageInfo.endCursor });
    expect(new Set([...idsOf(first), ...idsOf(last)]).size).toBe(510);
  });

  test('IDs of any script and length are listed', async () => {
    const memberId = '\u{1f3e8}'.repeat(128);
    const partnerId = 'Inn.of-the_world'.repeat(4);
    await store.importMembers([
      memberImport('long@example.com', { memberId, enrollments: [{ partnerId }] }),
    ]);
    const { edges } = await page({}, partnerId);
    expect(edges).toMatchObject([{ memberId, node: { email: 'long@example.com' } }]);
    const after = edges[0]?.cursor;
    expect(idsOf(await page({ after }, partnerId))).toEqual([]);
  });

  test('an erased member is in no list', async () => {
    await add('ada');
    await add('bob');
    await store.rights.erase('ada');
    expect(idsOf(await page({ status: null }))).toEqual(['bob']);
  });

  test("an empty page's endCursor is the cursor it was given, or one before the first entry", async () => {
    const empty = await page();
    expect(empty.edges).toEqual([]);
    expect(empty.pageInfo).toMatchObject({ hasNextPage: false, startCursor: null });
    await add('ada');
    const next = await page({ after: empty.pageInfo.endCursor });
    expect(idsOf(next)).toEqual(['ada']);
    const { endCursor } = next.pageInfo;
    expect((await page({ after: endCursor })).pageInfo.endCursor).toBe(endCursor);
    const future = await page({ updatedSince: '2100-01-01T00:00:00Z' });
    expect(idsOf(await page({ after: future.pageInfo.endCursor }))).toEqual([]);
  });

  test('the list ends a second before now, and a change shows within 2 s', async () => {
    const at = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => at + shiftMs);
    await add('ada');
    const ids = async () => {
      const { data } = await ask(QUERY, {}, 'inn');
      return idsOf((data as { members: Page }).members);
    };
    shiftMs = 1_000;
    expect(await ids()).toEqual([]);
    shiftMs = 1_001;
    expect(await ids()).toEqual(['ada']);
  });

  test('a cursor of another partner, a changed one, and one that is none are BAD_USER_INPUT', async () => {
    await add('ada');
    const { endCursor } = (await page()).pageInfo;
    for (const after of ['', 'x', `${endCursor}A`, endCursor.slice(1), 'A'.repeat(5_000)])
      expect(await ask(QUERY, { after }, 'inn')).toMatchObject({
        data: { members: null },
        errors: [{ extensions: { code: 'BAD_USER_INPUT', argument: 'after' } }],
      });
    expect(await ask(QUERY, { after: endCursor }, 'spa')).toMatchObject({
      errors: [{ extensions: { code: 'BAD_USER_INPUT', argument: 'after' } }],
    });
  });

  test('a cursor that an earlier version gave still works', async () => {
    await add('ada');
    // The cursor is of the partner inn, before every entry.
    const after = CURSOR_OF_THE_FIRST_VERSION;
    expect(idsOf(await page({ after }))).toEqual(['ada']);
  });

  test.each([
    [{ first: 0 }, 'first'],
    [{ first: 501 }, 'first'],
    [{ updatedSince: 'yesterday' }, 'updatedSince'],
    [{ updatedSince: '2026-02-30T00:00:00Z' }, 'updatedSince'],
    [{ updatedSince: '2026-02-03T00:00:00' }, 'updatedSince'],
    [{ updatedSince: 5 }, 'updatedSince'],
  ])('BAD_USER_INPUT for %j', async (variables, argument) => {
    expect(await ask(QUERY, variables, 'inn')).toMatchObject({
      data: { members: null },
      errors: [{ extensions: { code: 'BAD_USER_INPUT', argument } }],
    });
  });
});

const CURSOR_OF_THE_FIRST_VERSION = 'Hagh9WpbhYzcgZW3NvUzr1swLCIiXQ';

function executorOf(store: MembersStore) {
  return createExecutor(
    createMembers(store, { baseAddress: 'http://localhost:4000', wake: () => {} }),
    createLog('silent'),
    createCaches(),
  );
}
