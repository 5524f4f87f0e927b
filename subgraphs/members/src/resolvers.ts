// Resolvers: whose behalf the request is on, the arguments, the store, in this order.
import {
  fail,
  type MaybePromise,
  mapMaybe,
  type Scope,
  type SubgraphContext,
} from '@partner-loyalty/runtime';
import {
  LENGTHS,
  parseAddress,
  parseLookupAddress,
  parseOptionalText,
  parseText,
} from './input.ts';
import type { Identity, Member, MembersStore } from './store/store.ts';

type EnrollMemberInput = {
  email: string;
  externalId?: string | null;
  firstName?: string | null;
  lastName?: string | null;
};
type MemberProfile = Identity & { activePartnerIds: string[] };

/** Look-ups answer synchronously where the store does. */
export function createResolvers(store: MembersStore) {
  const profile = (id: string, scope: Scope): MaybePromise<MemberProfile> => {
    const own = memberOf(scope);
    if (parseText('id', id, LENGTHS.id) !== own.memberId) fail('MEMBER_NOT_FOUND');
    return mapMaybe(store.member(own.memberId), (member) =>
      profileOf(found(member), own.partnerId),
    );
  };

  return {
    Query: {
      memberByEmail(
        _: unknown,
        { email }: { email: string },
        { scope }: SubgraphContext,
      ): MaybePromise<Identity> {
        const partnerId = partnerOf(scope);
        return mapMaybe(store.memberByEmail(partnerId, parseLookupAddress('email', email)), found);
      },
      memberByExternalId(
        _: unknown,
        { externalId }: { externalId: string },
        { scope }: SubgraphContext,
      ): MaybePromise<Identity> {
        const partnerId = partnerOf(scope);
        return mapMaybe(
          store.memberByExternalId(
            partnerId,
            parseText('externalId', externalId, LENGTHS.externalId),
          ),
          found,
        );
      },
      memberProfile: (_: unknown, { id }: { id: string }, { scope }: SubgraphContext) =>
        profile(id, scope),
    },
    Mutation: {
      async enrollMember(
        _: unknown,
        { input }: { input: EnrollMemberInput },
        { scope }: SubgraphContext,
      ) {
        const enrolled = await store.enroll({
          partnerId: partnerOf(scope),
          address: parseAddress('email', input.email),
          externalId: parseOptionalText('externalId', input.externalId, LENGTHS.externalId),
          firstName: parseOptionalText('firstName', input.firstName, LENGTHS.name),
          lastName: parseOptionalText('lastName', input.lastName, LENGTHS.name),
        });
        if (enrolled.outcome === 'external-id-conflict') return fail('EXTERNAL_ID_CONFLICT');
        return { member: enrolled.member, created: enrolled.created };
      },
      async endEnrollment(_: unknown, args: { memberId: string }, { scope }: SubgraphContext) {
        const partnerId = partnerOf(scope);
        const memberId = parseText('memberId', args.memberId, LENGTHS.id);
        return (await store.endEnrollment(partnerId, memberId))
          ? { memberId }
          : fail('MEMBER_NOT_FOUND');
      },
    },
    MemberProfile: {
      __resolveReference: ({ memberId }: { memberId: string }, { scope }: SubgraphContext) =>
        profile(memberId, scope),
    },
  };
}

export function profileOf(member: Member, partnerId: string | undefined): MemberProfile {
  const active = member.enrollments
    .filter((one) => one.status === 'ACTIVE')
    .map((one) => one.partnerId);
  return {
    ...member,
    activePartnerIds: partnerId === undefined ? active : active.filter((one) => one === partnerId),
  };
}

// The surfaces let no other scope come this far; these two hold where one of them is cut wrong.
export function partnerOf(scope: Scope): string {
  return scope.kind === 'partner' ? scope.partnerId : fail('INTERNAL_SERVER_ERROR');
}

export function memberOf(scope: Scope): { memberId: string; partnerId?: string } {
  return scope.kind === 'member' ? scope : fail('INTERNAL_SERVER_ERROR');
}

function found<T>(member: T | undefined): T {
  return member ?? fail('MEMBER_NOT_FOUND');
}
