// Random histories: the store behaves like a model that is simple enough to be obviously right.

import fc from 'fast-check';
import { ENGINES } from '../../../../test/support/engines.ts';
import { address, memberImport, newPlace, type Place } from '../../test/engine.ts';
import { makeToken } from '../rules/mailedtoken.ts';
import type {
  Address,
  EnrollInput,
  ImportResult,
  MemberImport,
  Names,
  NamesChange,
} from '../rules/member.ts';
import type { MembersStore } from './store.ts';

// All histories share a store; each has its own partners, addresses and members, named by its
// number instead of this.
const RUN = 'run0run';
const PARTNERS = ['inn', 'spa'].map((one) => `${one}-${RUN}`);
const EMAILS = ['Ada@x', 'ada@X', 'eve@x', 'bob@x', 'd\u00e9@m\u00fcnchen'].map(
  (one) => `${one}.${RUN}.example.com`,
);
const EXTERNAL_IDS = ['A-1', 'A-2'];
const MEMBERS = ['m1', 'm2', 'm3'].map((one) => `${one}-${RUN}`);

type Step =
  | { do: 'enroll'; input: EnrollInput }
  | { do: 'accept'; input: EnrollInput }
  | { do: 'sign-in'; partnerId: string; address: Address }
  | {
      do: 'end';
      partnerId: string;
      which: number /** Of the members known by then. */;
      isLeft: boolean;
    }
  | { do: 'rename'; partnerId: string; which: number; change: NamesChange }
  | { do: 'name-oneself'; which: number; change: NamesChange }
  | { do: 'import'; records: MemberImport[] };

const partnerId = fc.constantFrom(...PARTNERS);
const email = fc.constantFrom(...EMAILS);
const externalId = fc.option(fc.constantFrom(...EXTERNAL_IDS), { nil: undefined });
const name = fc.constantFrom('X', 'Y', undefined);
const names = { firstName: name, lastName: name };
const newName = fc.constantFrom('X', 'Y', null, undefined);
const change = fc.record({ firstName: newName, lastName: newName });
const enrollment = fc.record({
  partnerId,
  externalId,
  status: fc.constantFrom('ACTIVE' as const, 'ENDED' as const, undefined),
});
const imported = fc
  .record({
    memberId: fc.option(fc.constantFrom(...MEMBERS), { nil: undefined }),
    email,
    previous: fc.array(email, { maxLength: 2 }),
    ...names,
    // The importer refuses a partner that a line has twice.
    enrollments: fc.uniqueArray(enrollment, {
      maxLength: 2,
      selector: (one) => one.partnerId,
    }),
  })
  .map(({ email: typed, ...more }) => memberImport(typed, more));
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constantFrom('enroll' as const, 'accept' as const),
    input: fc.record({ partnerId, address: email.map(address), externalId, ...names }),
  }),
  fc.record({
    do: fc.constant('sign-in' as const),
    partnerId,
    address: email.map(address),
  }),
  fc.record({
    do: fc.constant('end' as const),
    partnerId,
    which: fc.nat(5),
    isLeft: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('rename' as const),
    partnerId,
    which: fc.nat(5),
    change,
  }),
  fc.record({
    do: fc.constant('name-oneself' as const),
    which: fc.nat(5),
    change,
  }),
  fc.record({
    do: fc.constant('import' as const),
    records: fc.array(imported, { minLength: 1, maxLength: 4 }),
  }),
);

const histories = fc.array(step, { minLength: 4, maxLength: 16, size: 'max' });

describe.each(ENGINES)('the members store on %s', (engine) => {
  // A failure is reported before the test's own time limit, even if it could be shrunk further.
  const runsOf = {
    numRuns: engine === 'lmdb' ? 100 : 20,
    interruptAfterTimeLimit: 110_000,
    markInterruptAsFailure: true,
  };
  let place: Place;
  let store: MembersStore;
  let runs = 0;

  beforeAll(async () => {
    place = newPlace(engine);
    store = await place.open();
  });
  afterAll(() => place.release());

  test('behaves like the model, and no read returns what the model does not', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (template) => {
        const { steps, ...world } = newWorld(template, ++runs);
        const model = new Model();
        const expectUpdated = expectTimes(store, model);
        for (const one of steps) {
          const start = Date.now();
          if (one.do === 'enroll') {
            const answer = await store.enroll(one.input);
            const memberId = answer.outcome === 'enrolled' ? answer.member.memberId : 'never';
            const told =
              answer.outcome === 'enrolled'
                ? { memberId, created: answer.created }
                : 'reason' in answer
                  ? answer.reason
                  : answer.outcome;
            expect(told).toEqual(model.enroll(one.input, memberId));
          } else if (one.do === 'accept') {
            const memberId = (await store.enrollInvited(one.input))?.memberId;
            expect(memberId).toBe(model.accept(one.input, memberId ?? 'never'));
          } else if (one.do === 'sign-in') {
            const { partnerId, address } = one;
            expect(await signIn(store, partnerId, address)).toBe(
              model.signIn(partnerId, address.canonical),
            );
          } else if (one.do === 'end') {
            const memberId = model.knownId(one.which) ?? 'nobody';
            const { isLeft } = one;
            expect(await store.endEnrollment(one.partnerId, memberId, isLeft)).toBe(
              model.end(one.partnerId, memberId, isLeft),
            );
          } else if (one.do === 'rename') {
            const memberId = model.knownId(one.which) ?? 'nobody';
            const { partnerId, change } = one;
            const renamed = await store.updateNames(partnerId, memberId, change);
            expect(visible(renamed)).toEqual(model.rename(partnerId, memberId, change));
          } else if (one.do === 'name-oneself') {
            const memberId = model.knownId(one.which) ?? 'nobody';
            const named = await store.updateOwnNames(memberId, one.change);
            expect(named?.ownNames).toEqual(model.nameOneself(memberId, one.change));
          } else {
            expect(await store.importMembers(one.records)).toEqual(
              one.records.map((each) => model.import(each)),
            );
          }
          await agree(store, model, world);
          await expectUpdated(start, one.do !== 'import' || one.records.length === 1);
        }
      }),
      runsOf,
    );
  });

  test('under concurrency, an address or external ID leads to one member, actively enrolled', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (template) => {
        const { steps, partners, addresses, members } = newWorld(template, ++runs);
        const known = [...members];
        await Promise.all(
          steps.map(async (one) => {
            if (one.do === 'end')
              return store.endEnrollment(one.partnerId, known[one.which] ?? 'nobody');
            if (one.do === 'import') return store.importMembers(one.records);
            if (one.do === 'accept') return store.enrollInvited(one.input);
            if (one.do === 'sign-in') return signIn(store, one.partnerId, one.address);
            if (one.do === 'rename' || one.do === 'name-oneself') {
              const memberId = known[one.which] ?? 'nobody';
              return one.do === 'rename'
                ? store.updateNames(one.partnerId, memberId, one.change)
                : store.updateOwnNames(memberId, one.change);
            }
            const answer = await store.enroll(one.input);
            if (answer.outcome === 'enrolled') known.push(answer.member.memberId);
            return answer;
          }),
        );
        for (const canonical of addresses) {
          const holders = new Set<string>();
          for (const partnerId of partners) {
            const found = await store.memberByEmail(partnerId, canonical);
            if (found === undefined) continue;
            holders.add(found.memberId);
            expect((await store.member(found.memberId))?.enrollments).toContainEqual(
              expect.objectContaining({ partnerId, status: 'ACTIVE' }),
            );
          }
          expect(holders.size).toBeLessThanOrEqual(1);
        }
        for (const partnerId of partners) {
          for (const externalId of EXTERNAL_IDS) {
            const found = await store.memberByExternalId(partnerId, externalId);
            if (found)
              expect((await store.member(found.memberId))?.enrollments).toContainEqual(
                expect.objectContaining({ partnerId, status: 'ACTIVE', externalId }),
              );
          }
        }
      }),
      runsOf,
    );
  });
});

function newWorld(template: Step[], run: number) {
  const own = (text: string) => text.replaceAll(RUN, `run${run}run`);
  // Cast: the same steps with other names.
  const steps = JSON.parse(own(JSON.stringify(template))) as Step[];
  const addresses = EMAILS.map((one) => own(address(one).canonical));
  return { steps, addresses, partners: PARTNERS.map(own), members: MEMBERS.map(own) };
}

/** Signs in by a mailed link. Resolves with the member's ID. */
async function signIn(
  { tokens }: MembersStore,
  partnerId: string,
  { canonical }: Address,
): Promise<string | undefined> {
  const { hash } = makeToken('sign-in');
  const token = { use: 'sign-in', hash, expiresAt: 1, partnerId, ownPage: true } as const;
  await tokens.addSignIn(token, canonical, 0);
  return (await tokens.redeemSignIn(hash, 'own-page', 0))?.memberId;
}

async function agree(
  store: MembersStore,
  model: Model,
  { partners, addresses }: { partners: string[]; addresses: string[] },
): Promise<void> {
  for (const partner of partners) {
    for (const canonical of addresses) {
      const found = await store.memberByEmail(partner, canonical);
      model.learn(model.byEmail(partner, canonical), found?.memberId);
      expect(visible(found)).toEqual(model.seen(partner, model.byEmail(partner, canonical)));
      const recipient = await store.tokens.findRecipient(partner, canonical);
      expect(recipient).toEqual(model.recipient(partner, canonical));
    }
    for (const id of EXTERNAL_IDS) {
      expect(visible(await store.memberByExternalId(partner, id))).toEqual(
        model.seen(partner, model.byExternalId(partner, id)),
      );
    }
  }
}

/**
 * Expects of each enrollment that it was updated since a time if its partner sees it otherwise than
 * before, and, after a single change, that it was not if the partner sees the same.
 */
function expectTimes(store: MembersStore, model: Model) {
  const known = new Map<string, { seen: string; updatedAt: number }>();
  return async (start: number, isSingle: boolean): Promise<void> => {
    for (const { memberId } of model.members) {
      const { enrollments = [] } = (await store.member(memberId)) ?? {};
      for (const { updatedAt, partnerId, ...enrollment } of enrollments) {
        const name = `${memberId} ${partnerId}`;
        const before = known.get(name);
        const { status, externalId, enrolledAt, unconfirmed } = enrollment;
        const identity = await store.memberById(partnerId, memberId);
        const shown = [visible(identity), externalId, enrolledAt, unconfirmed];
        const seen = status === 'ENDED' ? status : JSON.stringify(shown);
        if (before !== undefined && before.seen !== seen)
          expect(updatedAt).toBeGreaterThanOrEqual(Math.max(start, before.updatedAt + 1));
        else if (before !== undefined && isSingle) expect(updatedAt).toBe(before.updatedAt);
        known.set(name, { seen, updatedAt });
      }
    }
  };
}

function visible(member: (Names & { memberId: string; email: string }) | undefined) {
  if (member === undefined) return undefined;
  const { memberId, email, firstName, lastName } = member;
  return { memberId, email, firstName, lastName };
}

type ModelMember = {
  memberId: string;
  email: string;
  names: Names;
  current: string;
  history: string[];
  givenUp: string[];
  unconfirmed: string[];
  /** The names that the member set. */
  own: Names | undefined;
  active: Map<string, string | undefined>;
  ended: Set<string>;
  /** The partners that are not confirmed. */
  doubted: Set<string>;
  /** The only addresses that a partner sees and uses. */
  only: Map<string, string[]>;
  /** How a partner wrote an address. */
  typed: Map<string, Map<string, string>>;
  /** The names that a partner sent. */
  sent: Map<string, Names>;
};

/** All members in one list, searched linearly. */
class Model {
  members: ModelMember[] = [];

  holder(canonical: string): ModelMember | undefined {
    return this.members.find((one) => one.current === canonical || one.history.includes(canonical));
  }

  byEmail(partner: string, canonical: string): ModelMember | undefined {
    const holder = this.holder(canonical);
    if (!holder?.active.has(partner)) return undefined;
    return holder.only.get(partner)?.includes(canonical) === false ? undefined : holder;
  }

  /** A member as the partner sees it. */
  seen(partner: string, member: ModelMember | undefined) {
    if (member === undefined) return undefined;
    const { memberId, email, current, own, doubted, only, typed } = member;
    const spelling = typed.get(partner);
    const last = only.get(partner)?.at(-1);
    const spelt = spelling?.get(current) ?? (last === undefined ? undefined : spelling?.get(last));
    const sent = this.sentNames(partner, member);
    return { memberId, email: spelt ?? email, ...(doubted.has(partner) ? sent : (own ?? sent)) };
  }

  /** The names that a partner sent, or else, if it is confirmed, the imported ones. */
  sentNames(partner: string, { sent, doubted, names }: ModelMember): Names {
    return sent.get(partner) ?? (doubted.has(partner) ? {} : names);
  }

  send(partner: string, member: ModelMember, names: Names): void {
    const { firstName, lastName } = this.sentNames(partner, member);
    if (firstName !== names.firstName || lastName !== names.lastName)
      member.sent.set(partner, names);
  }

  rename(partner: string, memberId: string, change: NamesChange) {
    const member = this.members.find((one) => one.memberId === memberId);
    if (!member?.active.has(partner)) return undefined;
    this.send(partner, member, changed(this.sentNames(partner, member), change));
    return this.seen(partner, member);
  }

  nameOneself(memberId: string, change: NamesChange): Names | undefined {
    const member = this.members.find((one) => one.memberId === memberId);
    if (member === undefined || Object.values(change).every((one) => one === undefined))
      return member?.own;
    const own = changed(member.own ?? member.names, change);
    member.own = Object.keys(own).length > 0 ? own : undefined;
    return member.own;
  }

  recipient(partner: string, canonical: string) {
    const member = this.byEmail(partner, canonical);
    return (
      member && {
        memberId: member.memberId,
        isConfirmed: !member.unconfirmed.includes(member.current),
      }
    );
  }

  byExternalId(partner: string, id: string): ModelMember | undefined {
    return this.members.find((one) => one.active.get(partner) === id);
  }

  /** Takes over an ID that the store created and no result has contained. */
  learn(member: ModelMember | undefined, memberId: string | undefined): void {
    if (
      member?.memberId.startsWith('unknown') &&
      memberId !== undefined &&
      !this.members.some((one) => one.memberId === memberId)
    )
      member.memberId = memberId;
  }

  /** The ID of a member, once the model has learnt the one that the store gave. */
  knownId(which: number): string | undefined {
    const id = this.members[which]?.memberId;
    return id?.startsWith('unknown') ? undefined : id;
  }

  enroll(
    { partnerId, address: { typed, canonical }, externalId, ...given }: EnrollInput,
    memberId: string,
    confirms = false,
  ) {
    const holder = this.holder(canonical);
    const known = holder?.active.get(partnerId);
    if (externalId !== undefined) {
      const other = this.byExternalId(partnerId, externalId);
      if (known !== undefined && known !== externalId) return 'MEMBER_HAS_ANOTHER';
      if (other !== undefined && other !== holder) return 'TAKEN';
    }
    const member = holder ?? newMember(memberId, typed, canonical);
    if (holder === undefined) {
      member.unconfirmed = [canonical];
      this.members.push(member);
    }
    this.learn(member, memberId);
    const created = !member.active.has(partnerId);
    const { doubted, only } = member;
    if (confirms) confirm(member, partnerId);
    else if (created && !member.ended.has(partnerId)) doubted.add(partnerId);
    if (created) {
      member.typed.set(partnerId, new Map([[canonical, typed]]));
      if (doubted.has(partnerId) && canonical !== member.current) only.set(partnerId, [canonical]);
    } else if (only.get(partnerId)?.includes(canonical) === false) {
      only.get(partnerId)?.push(canonical);
      member.typed.get(partnerId)?.set(canonical, typed);
    }
    this.send(partnerId, member, { ...changed({}, given), ...this.sentNames(partnerId, member) });
    member.ended.delete(partnerId);
    member.active.set(partnerId, known ?? externalId);
    return { memberId: member.memberId, created };
  }

  accept(input: EnrollInput, memberId: string): string | undefined {
    const { canonical } = input.address;
    if ((this.holder(canonical)?.current ?? canonical) !== canonical) return undefined;
    const isEnrolled = typeof this.enroll(input, memberId, true) === 'object';
    if (!isEnrolled) this.enroll({ ...input, externalId: undefined }, memberId, true);
    const member = this.holder(canonical);
    if (member) member.unconfirmed = without(member.unconfirmed, [canonical]);
    return member?.memberId;
  }

  signIn(partnerId: string, canonical: string): string | undefined {
    const member = this.byEmail(partnerId, canonical);
    if (member) member.unconfirmed = without(member.unconfirmed, [member.current]);
    if (member) confirm(member, partnerId);
    return member?.memberId;
  }

  end(partnerId: string, memberId: string, isLeft: boolean): boolean {
    const member = this.members.find((one) => one.memberId === memberId);
    if (member?.active.has(partnerId)) end(member, partnerId);
    if (!member?.ended.has(partnerId)) return false;
    if (isLeft) member.doubted.add(partnerId);
    return true;
  }

  import({
    memberId,
    address: { typed, canonical },
    previousAddresses,
    enrollments,
    ...line
  }: MemberImport): ImportResult {
    const found =
      memberId === undefined
        ? this.holder(canonical)
        : this.members.find((one) => one.memberId === memberId);
    const before = JSON.stringify(found && shown(found));
    const member = found
      ? copy(found)
      : newMember(memberId ?? `unknown${this.members.length}`, typed, canonical);
    for (const { partnerId, externalId, status } of enrollments) {
      const becomes = status ?? (member.ended.has(partnerId) ? 'ENDED' : 'ACTIVE');
      const known = member.active.get(partnerId);
      if (
        becomes === 'ACTIVE' &&
        known !== undefined &&
        externalId !== undefined &&
        known !== externalId
      )
        return 'external-id-conflict';
      confirm(member, partnerId);
      end(member, partnerId);
      if (becomes === 'ENDED') continue;
      member.ended.delete(partnerId);
      member.active.set(partnerId, known ?? externalId);
      const spelling = found?.active.has(partnerId) ? found.typed.get(partnerId) : undefined;
      if (spelling) member.typed.set(partnerId, new Map(spelling));
    }
    const others = this.members.filter((one) => one !== found);
    const claims = previousAddresses
      .map((one) => one.canonical)
      .filter((one) => !member.givenUp.includes(one));
    const wanted = [canonical, ...claims];
    if (others.some((one) => wanted.includes(one.current))) return 'email-in-use';
    for (const [partner, id] of member.active) {
      if (id !== undefined && others.some((one) => one.active.get(partner) === id))
        return 'external-id-conflict';
    }
    for (const other of others) {
      other.givenUp.push(...other.history.filter((one) => wanted.includes(one)));
      other.history = other.history.filter((one) => !wanted.includes(one));
      other.unconfirmed = without(other.unconfirmed, wanted);
      forget(other, wanted);
    }
    const given = [canonical, ...previousAddresses.map((one) => one.canonical)];
    member.unconfirmed = without(member.unconfirmed, given);
    member.history = [...new Set([...member.history, member.current, ...claims])].filter(
      (one) => one !== canonical,
    );
    member.givenUp = member.givenUp.filter((one) => one !== canonical);
    member.current = canonical;
    member.email = typed;
    member.names = { ...member.names, ...changed({}, line) };
    if (found) Object.assign(found, member);
    else this.members.push(member);
    if (!found) return 'added';
    return JSON.stringify(shown(found)) === before ? 'unchanged' : 'changed';
  }
}

function newMember(memberId: string, email: string, current: string): ModelMember {
  return {
    memberId,
    email,
    names: {},
    own: undefined,
    current,
    history: [],
    givenUp: [],
    unconfirmed: [],
    active: new Map(),
    ended: new Set(),
    doubted: new Set(),
    only: new Map(),
    typed: new Map(),
    sent: new Map(),
  };
}

function changed(names: Names, change: NamesChange): Names {
  const { firstName = names.firstName, lastName = names.lastName } = change;
  return { ...(firstName && { firstName }), ...(lastName && { lastName }) };
}

function confirm({ doubted, only }: ModelMember, partnerId: string): void {
  doubted.delete(partnerId);
  only.delete(partnerId);
}

function end({ active, ended, only, typed }: ModelMember, partnerId: string): void {
  for (const one of [active, only, typed]) one.delete(partnerId);
  ended.add(partnerId);
}

/** Takes addresses from a member, and ends the enrollments of partners that have no other. */
function forget(member: ModelMember, addresses: string[]): void {
  for (const spelling of member.typed.values()) for (const one of addresses) spelling.delete(one);
  for (const [partnerId, only] of member.only) {
    const left = without(only, addresses);
    if (left.length > 0) member.only.set(partnerId, left);
    else end(member, partnerId);
  }
}

function without(addresses: string[], others: string[]): string[] {
  return addresses.filter((one) => !others.includes(one));
}

function copy(member: ModelMember): ModelMember {
  return {
    ...member,
    history: [...member.history],
    givenUp: [...member.givenUp],
    unconfirmed: [...member.unconfirmed],
    active: new Map(member.active),
    ended: new Set(member.ended),
    doubted: new Set(member.doubted),
    only: new Map(member.only),
    typed: new Map(member.typed),
    sent: new Map(member.sent),
  };
}

function shown({ active, ended, history, givenUp, doubted, ...rest }: ModelMember) {
  return {
    ...rest,
    doubted: [...doubted].sort(),
    history: [...history].sort(),
    givenUp: [...givenUp].sort(),
    active: [...active].sort(),
    ended: [...ended].sort(),
  };
}
