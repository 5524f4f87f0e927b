// What a member sees of itself, and how it sets its own names.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { partnerMember } from '../rules/enrollment.ts';
import type { Identity, Member, Profile } from '../rules/member.ts';
import { namesSeenByMember, shownNames } from '../rules/names.ts';
import type { MembersStore } from '../store/store.ts';
import { hasScope, ownerOf, parseNames, requireScope } from './input.ts';
import type { Resolvers } from './schema.generated.ts';

const REFUSAL = "a token that a partner holds cannot change the member's own names";

export function createProfile(store: Pick<MembersStore, 'updateOwnNames'>) {
  return {
    Mutation: {
      async updateProfile(_, { input }, { caller }) {
        const memberId = ownerOf(caller, 'profile', REFUSAL);
        const member = await store.updateOwnNames(memberId, parseNames(input));
        return profileOf(member ?? fail('MEMBER_NOT_FOUND'), undefined);
      },
    },
    // Whatever field has led to the profile.
    MemberProfile: {
      email({ email }, _, { caller }) {
        requireScope(caller, 'email');
        return email;
      },
      firstName: ({ firstName }, _, { caller }) =>
        hasScope(caller, 'profile') ? firstName : undefined,
      lastName: ({ lastName }, _, { caller }) =>
        hasScope(caller, 'profile') ? lastName : undefined,
    },
  } satisfies Resolvers;
}

/**
 * A member's profile. With `partnerId`, the partner that holds the token, it shows what that
 * partner may see, and no other partner.
 */
export function profileOf(member: Member, partnerId: string | undefined): Profile {
  const active = member.enrollments
    .filter((one) => one.status === 'ACTIVE')
    .map((one) => one.partnerId);
  if (partnerId === undefined)
    return {
      ...identityOf(member),
      ...shownNames(namesSeenByMember(member)),
      activePartnerIds: active,
    };
  const seen = partnerMember(member, partnerId) ?? { ...identityOf(member), ...member.ownNames };
  const activePartnerIds = active.filter((one) => one === partnerId);
  return { ...seen, ...shownNames(seen), activePartnerIds };
}

function identityOf({ memberId, email }: Member): Identity {
  return { memberId, email };
}
