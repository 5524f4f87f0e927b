// Resolvers: whose behalf the request is on, the arguments, the store, in this order.
import { fail, type MaybePromise, mapMaybe, type Scope } from '@partner-loyalty/runtime';
import {
  LENGTHS,
  parseAddress,
  parseLookupAddress,
  parseOptionalText,
  parseText,
} from './input.ts';
import type { Resolvers } from './schema.generated.ts';
import type { Member, MembersStore, Profile } from './store/store.ts';

/** Look-ups answer synchronously where the store does. */
export function createResolvers(store: MembersStore) {
  const profile = (id: string, scope: Scope): MaybePromise<Profile> => {
    const own = memberOf(scope);
    if (parseText('id', id, LENGTHS.id) !== own.memberId) fail('MEMBER_NOT_FOUND');
    return mapMaybe(store.member(own.memberId), (member) =>
      profileOf(found(member), own.partnerId),
    );
  };

  return {
    Query: {
      memberByEmail(_, { email }, { scope }) {
        const partnerId = partnerOf(scope);
        return mapMaybe(store.memberByEmail(partnerId, parseLookupAddress('email', email)), found);
      },
      memberByExternalId(_, { externalId }, { scope }) {
        const partnerId = partnerOf(scope);
        return mapMaybe(
          store.memberByExternalId(
            partnerId,
            parseText('externalId', externalId, LENGTHS.externalId),
          ),
          found,
        );
      },
      memberProfile: (_, { id }, { scope }) => profile(id, scope),
    },
    Mutation: {
      async enrollMember(_, { input }, { scope }) {
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
      async endEnrollment(_, args, { scope }) {
        const partnerId = partnerOf(scope);
        const memberId = parseText('memberId', args.memberId, LENGTHS.id);
        return (await store.endEnrollment(partnerId, memberId))
          ? { memberId }
          : fail('MEMBER_NOT_FOUND');
      },
    },
    MemberProfile: {
      __resolveReference: ({ memberId }, { scope }) => profile(memberId, scope),
    },
  } satisfies Resolvers;
}

export function profileOf(member: Member, partnerId: string | undefined): Profile {
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
