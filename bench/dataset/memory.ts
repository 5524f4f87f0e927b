// Stores that compute members from their numbers, so that a subgraph adds hardly any cost.
import type { MembersStore, PartnerMember } from '@partner-loyalty/members';
import type { StandingsStore } from '@partner-loyalty/standings';
import {
  emailOf,
  externalIdOf,
  memberIdOf,
  PARTNER,
  PLACEHOLDER,
  PROGRAM,
  pointsOf,
} from './population.ts';

const opened = { ready: async () => undefined, close: async () => undefined };

/** The members 0 to `count` - 1, with the functions that the benchmark calls and no others. */
export function memoryMembers(count: number): MembersStore {
  const find = (partnerId: string, text: string, textOf: (index: number) => string) => {
    const index = numberIn(text);
    const isEnrolled = partnerId.startsWith(PARTNER) && index < count;
    return isEnrolled && textOf(index) === text ? memberAt(index) : undefined;
  };
  const memberOf = (text: string) => memberAt(numberIn(text));
  const textOf = { email: emailOf, externalId: externalIdOf, memberId: memberIdOf };
  const calls: Partial<MembersStore> = {
    memberByEmail: (partnerId, canonical) => find(partnerId, canonical, emailOf),
    memberByExternalId: (partnerId, externalId) => find(partnerId, externalId, externalIdOf),
    memberById: (partnerId, memberId) => find(partnerId, memberId, memberIdOf),
    lookUp: (partnerId, keys) =>
      keys.map(({ by, value }) => {
        const member = find(partnerId, value, textOf[by]);
        return member === undefined ? { status: 'NOT_FOUND' } : { status: 'FOUND', member };
      }),
    enroll: async ({ address }) => ({
      outcome: 'enrolled',
      created: false,
      member: memberOf(address.canonical),
    }),
    changeExternalId: async (_, memberId, externalId) => ({
      outcome: 'changed',
      member: { ...memberOf(memberId), enrollment: { externalId } },
    }),
    ...opened,
  };
  // Cast: the benchmark sends no operation that calls another function.
  return {
    ...calls,
    partners: { get: () => undefined, put: async () => undefined },
  } as MembersStore;
}

/** The standings of the same members. */
export function memoryStandings(): StandingsStore {
  const reads: Partial<StandingsStore> = {
    program: () => PROGRAM,
    standing: (_partnerId, memberId) => ({ points: pointsOf(numberIn(memberId)), stays: 1 }),
    ...opened,
  };
  // Cast: the benchmark sends no operation that calls another function.
  return reads as StandingsStore;
}

function memberAt(index: number): PartnerMember {
  return {
    memberId: memberIdOf(index),
    email: emailOf(index),
    firstName: `First${index}`,
    lastName: `Last${index}`,
    enrollment: {},
  };
}

function numberIn(text: string): number {
  const start = text.search(/\d/);
  return Number(text.slice(start, start + PLACEHOLDER.length));
}
