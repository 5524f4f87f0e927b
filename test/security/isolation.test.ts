// Isolation of partners as a property: after any changes, a key reads only what a model allows.
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { addPartner } from '../support/service/testdata.ts';

const RUNS = 20;
const PARTNERS = 3;
const ADDRESSES = 5;
const EXTERNAL_IDS = 3;
const KINDS = ['end', 'rename', 'move', 'earn'] as const;

const ACTIVITIES = 'edges { node { partnerId points } }';

/** Looks up every address and every external ID, one by one and in a list, and members by ID. */
const EVERYTHING = `query ($keys: [MemberKey!]!, $id: ID!, ${[...numbered('e', ADDRESSES), ...numbered('x', EXTERNAL_IDS)].map((name) => `$${name}: String!`).join(' ')}) {
  ${numbered('e', ADDRESSES).map((name) => `${name}: memberByEmail(email: $${name}) { memberId email points externalId }`)}
  ${numbered('x', EXTERNAL_IDS).map((name) => `${name}: memberByExternalId(externalId: $${name}) { memberId email points externalId }`)}
  list: memberLookups(keys: $keys) { member { memberId email points externalId } }
  id: memberById(memberId: $id) { memberId email points externalId standing { partnerId points } activities { ${ACTIVITIES} } } }`;

const below = (limit: number) => fc.nat(limit - 1);
/** A change. Numbers are indexes, which wrap around; each kind has use for some of them. */
const action = fc.record({
  kind: fc.constantFrom(...Array<'enroll'>(5).fill('enroll'), ...KINDS, ...KINDS),
  partner: below(PARTNERS),
  address: below(ADDRESSES),
  member: below(ADDRESSES),
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
    const world = await createWorld(service);
    for (const step of steps) {
      await world.apply(step);
      await world.checkPartners();
    }
    await world.checkProfiles();
  });
  await fc.assert(property, { numRuns: RUNS });
}, 120_000);

test('each key reads what the model allows during concurrent changes by others', async () => {
  const property = fc.asyncProperty(actions, async (steps) => {
    // They have different partners and addresses, so the order between them does not matter.
    const worlds = [await createWorld(service), await createWorld(service)];
    await Promise.all(
      worlds.map(async (world) => {
        for (const step of steps) await world.apply(step);
        await Promise.all([world.checkPartners(), world.checkProfiles()]);
      }),
    );
  });
  await fc.assert(property, { numRuns: Math.ceil(RUNS / 3) });
}, 120_000);

/**
 * New partners with keys, addresses that no other world uses, and external IDs that all worlds
 * share.
 */
async function createWorld({ send, stores, provider }: InProcessService) {
  const run = randomBytes(6).toString('hex');
  const partners = await Promise.all(
    Array.from({ length: PARTNERS }, async (_, n) => {
      const partnerId = `p${n}-${run}`;
      return { partnerId, key: await addPartner(stores.keys, { partnerId }) };
    }),
  );
  const addresses = Array.from({ length: ADDRESSES }, (_, n) => `a${n}.${run}@example.com`);
  const externalIds = Array.from({ length: EXTERNAL_IDS }, (_, n) => `x${n}`);
  const model = new Model();
  let earned = 0;
  const startedAt = Date.now() - 60_000;

  async function apply({ kind, points, ...at }: Action): Promise<void> {
    const member = model.members[at.member % Math.max(1, model.members.length)];
    const partner = partners[at.partner];
    const address = addresses[at.address] ?? '';
    if (partner === undefined) return;
    if (kind === 'enroll') return enroll(partner, address, at.externalId);
    if (member === undefined) return;
    if (kind === 'end') return end(partner, member);
    if (kind === 'rename') return rename(partner, member, at.externalId);
    if (kind === 'move') return move(member, address);
    return earn(partner, member, points);
  }

  async function enroll(
    { partnerId, key }: (typeof partners)[number],
    address: string,
    id: number | undefined,
  ): Promise<void> {
    const enrolling = {
      partnerId,
      address,
      externalId: id === undefined ? undefined : externalIds[id],
    };
    const expected = model.expectEnrolled(enrolling);
    const query =
      'mutation ($input: EnrollMemberInput!) { enrollMember(input: $input) { created member { memberId email points } } }';
    const { body, code } = await send({
      query,
      variables: { input: { email: address.toUpperCase(), externalId: enrolling.externalId } },
      key,
    });
    if (expected === undefined) {
      expect(code).toBe('EXTERNAL_ID_CONFLICT');
      return;
    }
    // Cast: the schema guarantees it.
    const { created, member } = (body.data?.enrollMember ?? {}) as {
      created: boolean;
      member: { memberId: string; points: number };
    };
    expect(created).toBe(expected.created);
    if (expected.owner) expect(member.memberId).toBe(expected.owner.memberId);
    else expect(model.members.map(({ memberId }) => memberId)).not.toContain(member.memberId);
    expect(member.points).toBe(model.pointsOf(partnerId, member.memberId));
    model.enroll(enrolling, member.memberId);
  }

  async function end(
    { partnerId, key }: (typeof partners)[number],
    { memberId }: ModelMember,
  ): Promise<void> {
    const query = 'mutation ($memberId: ID!) { endEnrollment(memberId: $memberId) { memberId } }';
    const { body, code } = await send({ query, variables: { memberId }, key });
    if (model.end(partnerId, memberId))
      expect(body).toEqual({ data: { endEnrollment: { memberId } } });
    else expect([body.data, code]).toEqual([{ endEnrollment: null }, 'MEMBER_NOT_FOUND']);
  }

  async function rename(
    { partnerId, key }: (typeof partners)[number],
    { memberId }: ModelMember,
    id: number | undefined,
  ): Promise<void> {
    const query =
      'mutation ($memberId: ID!, $externalId: String) { changeExternalId(memberId: $memberId, externalId: $externalId) { memberId externalId } }';
    const externalId = id === undefined ? undefined : externalIds[id];
    const { body, code } = await send({
      query,
      variables: { memberId, externalId: externalId ?? null },
      key,
    });
    const expected = model.rename(partnerId, memberId, externalId);
    expect(code).toBe(expected === 'renamed' ? undefined : expected);
    expect(body.data?.changeExternalId).toEqual(
      expected === 'renamed' ? { memberId, externalId: externalId ?? null } : null,
    );
  }

  async function move(member: ModelMember, address: string): Promise<void> {
    const { memberId } = member;
    const [imported] = await stores.members.importMembers([
      {
        memberId,
        address: { typed: address, canonical: address },
        previousAddresses: [],
        enrollments: [],
      },
    ]);
    expect(imported === 'email-in-use').toBe(!model.move(member, address));
  }

  /**
   * The partner records it, and if it may not, an import does. Each partner numbers its own, so
   * that partners have the same IDs.
   */
  async function earn(
    { partnerId, key }: (typeof partners)[number],
    { memberId, enrollments, ended }: ModelMember,
    points: number,
  ): Promise<void> {
    earned += 1;
    // One millisecond each, so that their order is known.
    const occurredAt = new Date(startedAt + earned);
    const activityId = `${model.earnings.filter((one) => one.partnerId === partnerId).length}`;
    const query =
      'mutation ($activities: [ActivityInput!]!) { recordActivities(activities: $activities) { activityId outcome } }';
    const one = { activityId, memberId, points, stays: 1, occurredAt: occurredAt.toISOString() };
    const isKnown = enrollments.has(partnerId) || ended.has(partnerId);
    const { body } = await send({ query, variables: { activities: [one] }, key });
    expect(body).toEqual({
      data: {
        recordActivities: [{ activityId, outcome: isKnown ? 'RECORDED' : 'NOT_ENROLLED' }],
      },
    });
    const year = `${occurredAt.getUTCFullYear()}-01-01`;
    const imported = { ...one, partnerId, occurredAt, year };
    expect(await stores.standings.record([imported])).toEqual([
      isKnown ? 'already-recorded' : 'recorded',
    ]);
    model.earn(partnerId, memberId, points);
  }

  /** Compares all that each key can read with the model, concurrently. */
  async function checkPartners(): Promise<void> {
    await Promise.all(partners.map(checkPartner));
  }

  async function checkProfiles(): Promise<void> {
    await Promise.all(model.members.map(checkProfile));
  }

  async function checkPartner({ partnerId, key }: (typeof partners)[number]): Promise<void> {
    const variables = Object.fromEntries([
      ...addresses.map((address, n) => [`e${n}`, n % 2 ? address : address.toUpperCase()]),
      ...externalIds.map((externalId, n) => [`x${n}`, externalId]),
    ]);
    const keys = [
      ...addresses.map((email) => ({ email })),
      ...externalIds.map((externalId) => ({ externalId })),
      ...model.members.map(({ memberId }) => ({ memberId })),
    ];
    const id = model.members.at(-1)?.memberId ?? 'none';
    const { body } = await send({ query: EVERYTHING, variables: { ...variables, keys, id }, key });
    const visible = (member: ModelMember | undefined) =>
      member?.enrollments.has(partnerId)
        ? {
            memberId: member.memberId,
            email: expect.any(String),
            points: model.pointsOf(partnerId, member.memberId),
            externalId: member.enrollments.get(partnerId)?.externalId ?? null,
          }
        : null;
    const byEmail = addresses.map((address) => visible(model.byEmail(partnerId, address)));
    const byExternalId = externalIds.map((each) => visible(model.byExternalId(partnerId, each)));
    const byId = model.members.map(visible);
    expect(body.data).toEqual({
      ...Object.fromEntries(byEmail.map((read, n) => [`e${n}`, read])),
      ...Object.fromEntries(byExternalId.map((read, n) => [`x${n}`, read])),
      list: [...byEmail, ...byExternalId, ...byId].map((member) => ({ member })),
      id: withHistory(partnerId, id, byId.at(-1)),
    });
    // Cast: the schema guarantees it. Addresses keep the case in which the partner wrote them.
    const { list: _list, ...singles } = body.data ?? {};
    for (const read of Object.values(singles) as ({ memberId: string; email: string } | null)[]) {
      if (read === null) continue;
      const member = model.members.find(({ memberId }) => memberId === read.memberId);
      expect(read.email.toLowerCase()).toBe(member && model.addressSeen(partnerId, member));
    }
  }

  function withHistory(partnerId: string, memberId: string, read: object | null | undefined) {
    if (!read) return null;
    const standing = { partnerId, points: model.pointsOf(partnerId, memberId) };
    return { ...read, standing, activities: activitiesOf([partnerId], memberId) };
  }

  function activitiesOf(partnerIds: string[], memberId: string) {
    return { edges: model.earningsOf(partnerIds, memberId).map((node) => ({ node })) };
  }

  async function checkProfile({ memberId, current, enrollments }: ModelMember): Promise<void> {
    const query = `query ($id: ID!) { memberProfile(id: $id) { email partnerStandings { partnerId points } membershipYearStats { akinPoints }
      standings { partnerId points } activities { ${ACTIVITIES} } } }`;
    const standings = [...enrollments.keys()].map((partnerId) => ({
      partnerId,
      points: model.pointsOf(partnerId, memberId),
    }));
    const token = await provider.issue(memberId);
    const { body } = await send({ query, variables: { id: memberId }, token });
    // Cast: the schema guarantees it.
    const profile = (body.data?.memberProfile ?? {}) as {
      email: string;
      partnerStandings: unknown[];
      standings: unknown[];
      activities: object;
      membershipYearStats: object;
    };
    expect(profile.email.toLowerCase()).toBe(current);
    expect(new Set(profile.partnerStandings)).toEqual(new Set(standings));
    expect(new Set(profile.standings)).toEqual(new Set(standings));
    expect(profile.activities).toEqual(activitiesOf([...enrollments.keys()], memberId));
    expect(profile.membershipYearStats).toEqual({
      akinPoints: standings.reduce((sum, { points }) => sum + points, 0),
    });
    for (const other of model.members) {
      if (other.memberId === memberId) continue;
      expect((await send({ query, variables: { id: other.memberId }, token })).code).toBe(
        'MEMBER_NOT_FOUND',
      );
    }
  }

  return { apply, checkPartners, checkProfiles };
}

function numbered(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${name}${n}`);
}

// A minimal model of what each partner may read (docs/callers/members.md, Enrollment).

type ModelMember = {
  memberId: string;
  current: string;
  earlier: Set<string>;
  enrollments: Map<
    string,
    {
      externalId: string | undefined;
      /** The only addresses that the partner sees and uses: the first was history already. */
      only?: string[] | undefined;
    }
  >;
  /** The partners that ever ended an enrollment. */
  ended: Set<string>;
};

type Enrolling = { partnerId: string; address: string; externalId?: string | undefined };

/** Members, their addresses and active enrollments, and their points with each partner. */
class Model {
  readonly members: ModelMember[] = [];
  readonly points = new Map<string, number>();
  readonly earnings: { partnerId: string; memberId: string; points: number }[] = [];

  /** The member whose current or earlier address this is. */
  ownerOf(address: string): ModelMember | undefined {
    return this.members.find(({ current, earlier }) => current === address || earlier.has(address));
  }

  byEmail(partnerId: string, address: string): ModelMember | undefined {
    const owner = this.ownerOf(address);
    const active = owner?.enrollments.get(partnerId);
    return active === undefined || active.only?.includes(address) === false ? undefined : owner;
  }

  /** The address that a partner sees. */
  addressSeen(partnerId: string, { current, enrollments }: ModelMember): string | undefined {
    const only = enrollments.get(partnerId)?.only ?? [current];
    return only.includes(current) ? current : only.at(-1);
  }

  byExternalId(partnerId: string, externalId: string): ModelMember | undefined {
    return this.members.find(
      ({ enrollments }) => enrollments.get(partnerId)?.externalId === externalId,
    );
  }

  pointsOf(partnerId: string, memberId: string): number {
    return this.points.get(`${partnerId} ${memberId}`) ?? 0;
  }

  earn(partnerId: string, memberId: string, points: number): void {
    this.points.set(`${partnerId} ${memberId}`, this.pointsOf(partnerId, memberId) + points);
    this.earnings.push({ partnerId, memberId, points });
  }

  /** What a member earned with some partners, the last one first. */
  earningsOf(partnerIds: string[], of: string): { partnerId: string; points: number }[] {
    return this.earnings
      .filter(({ partnerId, memberId }) => memberId === of && partnerIds.includes(partnerId))
      .map(({ partnerId, points }) => ({ partnerId, points }))
      .reverse();
  }

  /** The expected result of enrolling, or undefined if it must be a conflict. Changes nothing. */
  expectEnrolled({
    partnerId,
    address,
    externalId,
  }: Enrolling): { owner: ModelMember | undefined; created: boolean } | undefined {
    const owner = this.ownerOf(address);
    const active = owner?.enrollments.get(partnerId);
    const holder = externalId === undefined ? undefined : this.byExternalId(partnerId, externalId);
    const isTaken = holder !== undefined && holder !== owner;
    const differs =
      externalId !== undefined &&
      active?.externalId !== undefined &&
      active.externalId !== externalId;
    return isTaken || differs ? undefined : { owner, created: active === undefined };
  }

  /** Enrolls what expectEnrolled allows, under the `memberId` in the service's response. */
  enroll({ partnerId, address, externalId }: Enrolling, memberId: string): void {
    let owner = this.ownerOf(address);
    if (owner === undefined) {
      owner = {
        memberId,
        current: address,
        earlier: new Set(),
        enrollments: new Map(),
        ended: new Set(),
      };
      this.members.push(owner);
    }
    const active = owner.enrollments.get(partnerId);
    const isEarlier = owner.current !== address;
    const only = active ? active.only : isEarlier ? [] : undefined;
    if (only?.includes(address) === false) only.push(address);
    owner.enrollments.set(partnerId, { externalId: externalId ?? active?.externalId, only });
  }

  /** Sets or takes away an external ID, or the code of the error that this must be. */
  rename(
    partnerId: string,
    memberId: string,
    externalId: string | undefined,
  ): 'renamed' | 'MEMBER_NOT_FOUND' | 'EXTERNAL_ID_CONFLICT' {
    const member = this.members.find((one) => one.memberId === memberId);
    const active = member?.enrollments.get(partnerId);
    if (active === undefined) return 'MEMBER_NOT_FOUND';
    const holder = externalId === undefined ? undefined : this.byExternalId(partnerId, externalId);
    if (holder !== undefined && holder !== member) return 'EXTERNAL_ID_CONFLICT';
    active.externalId = externalId;
    return 'renamed';
  }

  /** Whether there is or was an enrollment to end. */
  end(partnerId: string, memberId: string): boolean {
    const member = this.members.find((one) => one.memberId === memberId);
    if (member?.enrollments.delete(partnerId)) member.ended.add(partnerId);
    return member?.ended.has(partnerId) ?? false;
  }

  /**
   * Sets a member's current address as an import does. It takes over another member's earlier
   * address, and returns false if the address is another member's current one.
   */
  move(member: ModelMember, address: string): boolean {
    const owner = this.ownerOf(address);
    if (owner !== undefined && owner !== member && owner.current === address) return false;
    if (owner !== member) this.lose(owner, address);
    if (member.current !== address) member.earlier.add(member.current);
    member.earlier.delete(address);
    member.current = address;
    return true;
  }

  /** Ends the enrollments of partners that may use no other address of the member. */
  private lose(member: ModelMember | undefined, address: string): void {
    member?.earlier.delete(address);
    for (const [partnerId, { only }] of member?.enrollments ?? []) {
      if (only?.includes(address)) only.splice(only.indexOf(address), 1);
      if (member && only?.length === 0) this.end(partnerId, member.memberId);
    }
  }
}
