// Resolvers of enrolling a member and ending an enrollment.
import { fail } from '@partner-loyalty/runtime';
import type { EnrollInput } from '../rules/member.ts';
import type { MembersStore } from '../store/store.ts';
import { LENGTHS, parseAddress, parseOptionalText, parseText } from './input.ts';
import type { EnrollMemberInput, Resolvers } from './schema.generated.ts';
import { partnerOf } from './scope.ts';

export function createEnrollment(
  store: Pick<MembersStore, 'enroll' | 'endEnrollment' | 'partners'>,
) {
  return {
    Mutation: {
      async enrollMember(_, { input }, { scope }) {
        const partnerId = partnerOf(scope);
        const wanted = parseEnrollment(partnerId, input);
        // Before anything is looked up: the answer is the same for every address.
        if ((await store.partners.find(partnerId))?.consent === 'required')
          return fail('CONSENT_REQUIRED');
        const enrolled = await store.enroll(wanted);
        if (enrolled.outcome === 'enrolled')
          return { member: enrolled.member, created: enrolled.created };
        return fail(enrolled.outcome === 'email-in-use' ? 'EMAIL_IN_USE' : 'EXTERNAL_ID_CONFLICT');
      },
      async endEnrollment(_, args, { scope }) {
        const partnerId = partnerOf(scope);
        const memberId = parseText('memberId', args.memberId, LENGTHS.id);
        const isEnded = await store.endEnrollment(partnerId, memberId);
        return isEnded ? { memberId } : fail('MEMBER_NOT_FOUND');
      },
    },
  } satisfies Resolvers;
}

/** Checks the arguments of enrolling and inviting. Fails with BAD_USER_INPUT. */
export function parseEnrollment(partnerId: string, input: EnrollMemberInput): EnrollInput {
  return {
    partnerId,
    address: parseAddress('email', input.email),
    externalId: parseOptionalText('externalId', input.externalId, LENGTHS.externalId),
    firstName: parseOptionalText('firstName', input.firstName, LENGTHS.name),
    lastName: parseOptionalText('lastName', input.lastName, LENGTHS.name),
  };
}
