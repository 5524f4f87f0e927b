// Isolation of partners as a property: after any changes, a key reads only what a model allows.
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { addPartner } from '../support/service/testdata.ts';

const RUNS = 20;
const PARTNERS = 3;
const ADDRESSES = 5;
const EXTERNAL_IDS = 3;

const READ = '{ memberId email points externalId }';
const ACTIVITIES = 'activities { edges { node { partnerId points } } }';
/** Looks up every address and every external ID, one by one and in a list, and a member by ID. */
const EVERYTHING = `query ($keys: [MemberKey!]!, $id: ID!, ${declared('e', ADDRESSES)}, ${declared('x', EXTERNAL_IDS)}) {
  ${numbered('e', ADDRESSES, (name) => `${name}: memberByEmail(email: $${name}) ${READ}`)}
  ${numbered('x', EXTERNAL_IDS, (name) => `${name}: memberByExternalId(externalId: $${name}) ${READ}`)}
  list: memberLookups(keys: $keys) { member ${READ} }
  id: memberById(memberId: $id) { standing { partnerId points } ${ACTIVITIES} } }`;
const PROFILE = `query ($id: ID!) { memberProfile(id: $id) { email standings { partnerId points }
  partnerStandings { partnerId points } membershipYearStats { akinPoints } ${ACTIVITIES} } }`;
const ENROLL = `mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) {
  created member { memberId points } } }`;
const END = 'mutation ($memberId: ID!) { endEnrollment(memberId: $memberId) { memberId } }';
const RENAME = `mutation ($memberId: ID!, $externalId: String) {
  changeExternalId(memberId: $memberId, externalId: $externalId) { externalId } }`;
const RECORD = `mutation ($activities: [ActivityInput!]!) {
  recordActivities(activities: $activities) { outcome } }`;

function numbered(name: string, count: number, each: (name: string) => string): string {
  return Array.from({ length: count }, (_, n) => each(`${name}${n}`)).join(' ');
}
function declared(name: string, count: number): string {
  return numbered(name, count, (each) => `$${each}: String!`);
}

const below = (limit: number) => fc.nat(limit - 1);
/** A change. Numbers are indexes; each kind has use for some of them. */
const action = fc.record({
  kind: fc.constantFrom('enroll', 'enroll', 'end', 'rename', 'earn'),
  partner: below(PARTNERS),
  address: below(ADDRESSES),
  externalId: fc.option(below(EXTERNAL_IDS), { nil: undefined }),
  points: fc.integer({ min: -500, max: 5_000 }),
});
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;
const actions = fc.array(action, { minLength: 1, maxLength: 14 });

let service: InProcessService;
beforeAll(async () => {
  service = await startInProcess({ env: { RATE_LIMIT_BUDGET: '1000000' } });
});
afterAll(() => service.close());

test('each key reads what the model allows and nothing else', async () => {
  const property = fc.asyncProperty(actions, async (steps) => {
    const world = await createWorld();
    for (const step of steps) {
      await world.apply(step);
      await world.check();
    }
  });
  await fc.assert(property, { numRuns: RUNS });
});

test('each key reads what the model allows during concurrent changes by others', async () => {
  const property = fc.asyncProperty(actions, async (steps) => {
    // They have different partners and addresses, so the order between them does not matter.
    const worlds = [await createWorld(), await createWorld()];
    await Promise.all(
      worlds.map(async (world) => {
        for (const step of steps) await world.apply(step);
        await world.check();
      }),
    );
  });
  await fc.assert(property, { numRuns: Math.ceil(RUNS / 3) });
});

/** `enrolled` has the external IDs by partner, `ended` the partners that ever ended it. */
type Member = {
  memberId: string;
  address: string;
  enrolled: Map<string, string | undefined>;
  ended: Set<string>;
};
type Partner = { partnerId: string; key: string };

/**
 * New partners with keys, addresses that no other world uses, external IDs that all worlds share,
 * and a model of them (docs/callers/members.md, Enrollment).
 */
async function createWorld() {
  const { send, stores, provider } = service;
  const run = randomBytes(6).toString('hex');
  const partners: Partner[] = [];
  for (let n = 0; n < PARTNERS; n += 1) {
    const partnerId = `p${n}-${run}`;
    partners.push({ partnerId, key: await addPartner(stores.keys, { partnerId }) });
  }
  const addresses = Array.from({ length: ADDRESSES }, (_, n) => `a${n}.${run}@example.com`);
  const externalIds = Array.from({ length: EXTERNAL_IDS }, (_, n) => `x${n}`);
  const members: Member[] = [];
  const earned: { partnerId: string; memberId: string; points: number }[] = [];
  const startedAt = Date.now() - 60_000;

  const byAddress = (address: string | undefined) =>
    members.find((member) => member.address === address);
  const byExternalId = (partnerId: string, externalId: string) =>
    members.find(({ enrolled }) => enrolled.get(partnerId) === externalId);
  const pointsOf = (partnerId: string, of: string) =>
    earned
      .filter((one) => one.partnerId === partnerId && one.memberId === of)
      .reduce((sum, { points }) => sum + points, 0);
  const activitiesOf = (partnerIds: string[], of: string) => ({
    edges: earned
      .filter((one) => one.memberId === of && partnerIds.includes(one.partnerId))
      .map(({ partnerId, points }) => ({ node: { partnerId, points } }))
      .reverse(),
  });

  async function apply({ kind, points, ...at }: Action): Promise<void> {
    const [partner, address] = [partners[at.partner], addresses[at.address]];
    const externalId = at.externalId === undefined ? undefined : externalIds[at.externalId];
    const member = byAddress(address);
    if (partner === undefined || address === undefined) return;
    if (kind === 'enroll') return enroll(partner, address, externalId);
    if (member === undefined) return;
    if (kind === 'end') return end(partner, member);
    if (kind === 'rename') return rename(partner, member, externalId);
    return earn(partner, member, points);
  }

  async function enroll({ partnerId, key }: Partner, address: string, externalId?: string) {
    const input = { email: address, externalId };
    const { body, code } = await send({ query: ENROLL, variables: { input }, key });
    const known = byAddress(address);
    const own = known?.enrolled.get(partnerId);
    const holder = externalId === undefined ? undefined : byExternalId(partnerId, externalId);
    const differs = externalId !== undefined && own !== undefined && own !== externalId;
    if (differs || (holder !== undefined && holder !== known))
      return expect(code).toBe('EXTERNAL_ID_CONFLICT');
    // Cast: the schema guarantees it.
    const { created, member } = Object(body.data).enrollMember as {
      created: boolean;
      member: { memberId: string; points: number };
    };
    expect(created).toBe(known?.enrolled.has(partnerId) !== true);
    const { memberId } = member;
    if (known === undefined) {
      expect(members.map((one) => one.memberId)).not.toContain(memberId);
      members.push({ memberId, address, enrolled: new Map(), ended: new Set() });
    } else expect(memberId).toBe(known.memberId);
    expect(member.points).toBe(pointsOf(partnerId, memberId));
    byAddress(address)?.enrolled.set(partnerId, externalId ?? own);
  }

  async function end({ partnerId, key }: Partner, { memberId, enrolled, ended }: Member) {
    const { body, code } = await send({ query: END, variables: { memberId }, key });
    if (enrolled.delete(partnerId)) ended.add(partnerId);
    const expected = ended.has(partnerId)
      ? [{ endEnrollment: { memberId } }, undefined]
      : [{ endEnrollment: null }, 'MEMBER_NOT_FOUND'];
    expect([body.data, code]).toEqual(expected);
  }

  async function rename({ partnerId, key }: Partner, member: Member, externalId?: string) {
    const variables = { memberId: member.memberId, externalId: externalId ?? null };
    const { code } = await send({ query: RENAME, variables, key });
    const holder = externalId === undefined ? undefined : byExternalId(partnerId, externalId);
    if (!member.enrolled.has(partnerId)) return expect(code).toBe('MEMBER_NOT_FOUND');
    if (holder !== undefined && holder !== member) return expect(code).toBe('EXTERNAL_ID_CONFLICT');
    expect(code).toBeUndefined();
    member.enrolled.set(partnerId, externalId);
  }

  /** Each partner numbers its own, so that partners have the same IDs. */
  async function earn({ partnerId, key }: Partner, member: Member, points: number) {
    const { memberId, enrolled, ended } = member;
    const activityId = `${earned.filter((one) => one.partnerId === partnerId).length}`;
    // One millisecond each, so that their order is known.
    const occurredAt = new Date(startedAt + earned.length);
    const activities = [{ activityId, memberId, points, stays: 1, occurredAt }];
    const { body } = await send({ query: RECORD, variables: { activities }, key });
    const isKnown = enrolled.has(partnerId) || ended.has(partnerId);
    const outcome = isKnown ? 'RECORDED' : 'NOT_ENROLLED';
    expect(body).toEqual({ data: { recordActivities: [{ outcome }] } });
    if (isKnown) earned.push({ partnerId, memberId, points });
  }

  /** Compares all that each key and each member can read with the model, concurrently. */
  async function check(): Promise<void> {
    await Promise.all([...partners.map(checkPartner), ...members.map(checkProfile)]);
  }

  async function checkPartner({ partnerId, key }: Partner): Promise<void> {
    const last = members.at(-1);
    const variables = Object.fromEntries([
      ...addresses.map((address, n) => [`e${n}`, n % 2 ? address : address.toUpperCase()]),
      ...externalIds.map((externalId, n) => [`x${n}`, externalId]),
      ['id', last?.memberId ?? 'none'],
    ]);
    const keys = [
      ...addresses.map((email) => ({ email })),
      ...externalIds.map((externalId) => ({ externalId })),
      ...members.map(({ memberId }) => ({ memberId })),
    ];
    const { body } = await send({ query: EVERYTHING, variables: { ...variables, keys }, key });
    const visible = (member: Member | undefined) =>
      member?.enrolled.has(partnerId)
        ? {
            memberId: member.memberId,
            email: member.address,
            points: pointsOf(partnerId, member.memberId),
            externalId: member.enrolled.get(partnerId) ?? null,
          }
        : null;
    const byEmail = addresses.map((address) => visible(byAddress(address)));
    const byId = externalIds.map((each) => visible(byExternalId(partnerId, each)));
    const standing = { partnerId, points: visible(last)?.points };
    expect(body.data).toEqual({
      ...Object.fromEntries(byEmail.map((read, n) => [`e${n}`, read])),
      ...Object.fromEntries(byId.map((read, n) => [`x${n}`, read])),
      list: [...byEmail, ...byId, ...members.map(visible)].map((member) => ({ member })),
      id: visible(last) && {
        standing,
        activities: activitiesOf([partnerId], last?.memberId ?? ''),
      },
    });
  }

  async function checkProfile({ memberId, address, enrolled }: Member): Promise<void> {
    const token = await provider.issue(memberId);
    const { body } = await send({ query: PROFILE, variables: { id: memberId }, token });
    const standings = [...enrolled.keys()].map((partnerId) => ({
      ...{ partnerId, points: pointsOf(partnerId, memberId) },
    }));
    const inAnyOrder = expect.any(Array);
    expect(body.data?.memberProfile).toEqual({
      email: address,
      standings: inAnyOrder,
      partnerStandings: inAnyOrder,
      membershipYearStats: { akinPoints: standings.reduce((sum, { points }) => sum + points, 0) },
      activities: activitiesOf([...enrolled.keys()], memberId),
    });
    const profile = Object(body.data?.memberProfile);
    for (const shown of [profile.standings, profile.partnerStandings])
      expect(new Set(shown)).toEqual(new Set(standings));
    const other = members.find((each) => each.memberId !== memberId)?.memberId ?? 'none';
    const theirs = await send({ query: PROFILE, variables: { id: other }, token });
    expect(theirs.code).toBe('MEMBER_NOT_FOUND');
  }

  return { apply, check };
}
