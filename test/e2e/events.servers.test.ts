// The feed of events as partners read it, and after a process was killed.

import { KEY_SCOPES } from '@partner-loyalty/gateway';
import { createPartnerClient, type EventIterator } from '../../client/src/index.ts';
import { type ApiResponse, type Client, createClient } from '../support/service/client.ts';
import { type Stack, startStack } from '../support/service/stack.ts';
import { addKey, addPartners, MEMBERS } from '../support/service/testdata.ts';
import { until } from '../support/until.ts';

const EVENTS = `query ($first: Int, $after: String, $types: [EventType!]) {
  read: events(first: $first, after: $after, types: $types) {
    edges { cursor node {
      id type occurredAt memberId externalId tierBefore tierAfter points activityId
      member { memberId email points } } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
const RECORD = `mutation ($activities: [ActivityInput!]!) {
  read: recordActivities(activities: $activities) { outcome } }`;
const ENROLL =
  'mutation ($input: EnrollMemberInput!) { read: enrollMember(input: $input) { member { memberId } } }';
const END = 'mutation ($memberId: ID!) { read: endEnrollment(memberId: $memberId) { memberId } }';

type Edge = { cursor: string; node: Record<string, unknown> };
type Page = {
  edges: Edge[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string };
};

/** Cast: the schema guarantees it if there is no error. */
const read = ({ data }: ApiResponse['body']) => data?.read as Page;

describe('three processes on MongoDB and Redis', () => {
  let stack: Stack;
  let send: Client;
  let key: string;
  beforeAll(async () => {
    stack = await startStack('three processes on MongoDB and Redis', {
      RATE_LIMIT_BUDGET: '100000',
    });
    await addPartners(stack.stores);
    await stack.stores.members.importMembers(MEMBERS);
    key = await addKey(stack.stores.keys, 'alpha', 'sandbox', { scopes: [...KEY_SCOPES] });
    send = createClient(stack.gateway.url, key);
    const imported = MEMBERS.filter(({ enrollments }) =>
      enrollments?.some((one) => one.partnerId === 'alpha' && one.status !== 'ENDED'),
    );
    await until(async () => (await page({ first: 500 })).edges.length >= imported.length);
  });
  afterAll(() => stack?.close());

  async function call<T>(query: string, variables: Record<string, unknown> = {}): Promise<T> {
    const { body, code } = await send({ query, variables });
    if (code !== undefined) throw new Error(JSON.stringify(body.errors));
    return body.data?.read as T; // Cast: the schema guarantees it if there is no error.
  }
  const page = (variables: Record<string, unknown> = {}) => call<Page>(EVENTS, variables);
  /** The cursor after every event so far. */
  async function latest(): Promise<string> {
    let { pageInfo } = await page({ first: 500 });
    while (pageInfo.hasNextPage)
      ({ pageInfo } = await page({ first: 500, after: pageInfo.endCursor }));
    return pageInfo.endCursor;
  }
  /** The events after a cursor, once there are as many. */
  const eventsAfter = (after: string, count: number) =>
    until(async () => {
      const { edges } = await page({ after, first: 500 });
      return edges.length >= count && edges.map(({ node }) => node);
    });
  const record = (activityId: string, memberId: string, points: number) =>
    call(RECORD, {
      activities: [{ activityId, memberId, points, occurredAt: new Date().toISOString() }],
    });
  let people = 0;
  async function enroll(externalId?: string): Promise<string> {
    people += 1;
    const email = `event-${people}@example.com`;
    const { member } = await call<{ member: { memberId: string } }>(ENROLL, {
      input: { email, externalId },
    });
    return member.memberId;
  }

  test('enrolling, recording and leaving are events, in their order, each once', async () => {
    const after = await latest();
    const memberId = await enroll('guest-1');
    await record('night-1', memberId, 150);
    await record('night-1', memberId, 150);
    const [enrolled, points, tier] = await eventsAfter(after, 3);
    expect(enrolled).toEqual({
      id: expect.any(String),
      type: 'MEMBER_ENROLLED',
      occurredAt: expect.stringMatching(/Z$/),
      memberId,
      externalId: 'guest-1',
      tierBefore: null,
      tierAfter: null,
      points: null,
      activityId: null,
      member: { memberId, email: expect.any(String), points: 150 },
    });
    expect(points).toMatchObject({ type: 'POINTS_CHANGED', activityId: 'night-1', points: 150 });
    expect(tier).toMatchObject({ type: 'TIER_CHANGED', tierBefore: 'Blue', tierAfter: 'Silver' });
    await call(END, { memberId });
    const all = await eventsAfter(after, 4);
    expect(all.map(({ type, member }) => [type, member])).toEqual([
      ['MEMBER_ENROLLED', null],
      ['POINTS_CHANGED', null],
      ['TIER_CHANGED', null],
      ['ENROLLMENT_ENDED', null],
    ]);
  });

  test('another partner’s cursor, a wrong size and a word are BAD_USER_INPUT', async () => {
    const beta = await addKey(stack.stores.keys, 'beta', 'sandbox', {});
    const theirs = await send({ query: EVENTS, key: beta });
    const { pageInfo } = read(theirs.body);
    for (const variables of [
      { after: pageInfo.endCursor },
      { after: 'word' },
      { first: 0 },
      { first: 501 },
    ])
      expect((await send({ query: EVENTS, variables })).code).toBe('BAD_USER_INPUT');
  });

  test('a cursor older than what was dropped is BAD_USER_INPUT with reason EXPIRED', async () => {
    const after = await latest();
    const memberId = await enroll();
    await eventsAfter(after, 1);
    await stack.stores.standings.feed.dropBefore(Math.ceil(Date.now() / 86_400_000) + 1);
    const { code, body } = await send({ query: EVENTS, variables: { after } });
    expect(code).toBe('BAD_USER_INPUT');
    expect(body.errors?.[0]?.extensions).toMatchObject({ argument: 'after', reason: 'EXPIRED' });
    const { pageInfo } = await page();
    await record('after-drop', memberId, 1);
    expect(await eventsAfter(pageInfo.endCursor, 1)).toMatchObject([{ activityId: 'after-drop' }]);
  });

  test('the client iterates over all events, and goes on where it was', async () => {
    const client = createPartnerClient({ url: `${stack.gateway.url}/graphql`, key });
    const after = await latest();
    const memberId = await enroll();
    for (const night of [1, 2, 3]) await record(`client-${night}`, memberId, 1);
    await eventsAfter(after, 4);
    const seen: (string | null)[] = [];
    let cursor: string | undefined = after;
    for (;;) {
      // A reader that stops after each second event.
      const events: EventIterator<{ activityId: string | null }> = client.events({
        after: cursor,
        pageSize: 3,
      });
      let count = 0;
      for await (const { activityId } of events) {
        seen.push(activityId ?? null);
        cursor = events.cursor;
        count += 1;
        if (count === 2) break;
      }
      if (count === 0) break;
    }
    expect(seen).toEqual([null, 'client-1', 'client-2', 'client-3']);
    const none = client.events({ after, types: ['YEAR_ENDED'] });
    for await (const { type } of none) throw new Error(type);
    expect(none.cursor).toBe(cursor);
  });
});
