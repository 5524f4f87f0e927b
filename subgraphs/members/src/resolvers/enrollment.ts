// Resolvers of enrolling a member and ending an enrollment.
import { fail, failInput } from '@partner-loyalty/runtime/errors.ts';
import type { EnrollInput, ExternalIdConflict } from '../rules/member.ts';
import type { MembersStore } from '../store/store.ts';
import {
  LENGTHS,
  parseAddress,
  parseNames,
  parseOptionalName,
  parseOptionalText,
  parseText,
  partnerOf,
} from './input.ts';
import type { EnrollMemberInput, Resolvers } from './schema.generated.ts';

export function createEnrollment(
  store: Pick<
    MembersStore,
    'enroll' | 'endEnrollment' | 'changeExternalId' | 'updateNames' | 'partners'
  >,
) {
  return {
    Mutation: {
      async enrollMember(_, { input }, { caller }) {
        const partnerId = partnerOf(caller);
        const wanted = parseEnrollment(partnerId, input);
        // Before anything is looked up: the answer is the same for every address.
        if ((await store.partners.get(partnerId))?.consent === 'required')
          return fail('CONSENT_REQUIRED');
        const enrolled = await store.enroll(wanted);
        if (enrolled.outcome === 'enrolled')
          return { member: enrolled.member, created: enrolled.created };
        if (enrolled.outcome === 'email-in-use') return fail('EMAIL_IN_USE');
        return failConflict(enrolled.reason);
      },
      async endEnrollment(_, args, { caller }) {
        const partnerId = partnerOf(caller);
        const memberId = parseText('memberId', args.memberId, LENGTHS.id);
        const isEnded = await store.endEnrollment(partnerId, memberId);
        return isEnded ? { memberId } : fail('MEMBER_NOT_FOUND');
      },
      async changeExternalId(_, args, { caller }) {
        const partnerId = partnerOf(caller);
        const memberId = parseText('memberId', args.memberId, LENGTHS.id);
        // A caller that forgets it would take the external ID away.
        if (args.externalId === undefined)
          failInput('externalId', 'must be given; null takes the external ID away');
        const externalId = parseOptionalText('externalId', args.externalId, LENGTHS.externalId);
        const result = await store.changeExternalId(partnerId, memberId, externalId);
        if (result.outcome === 'changed') return result.member;
        return result.outcome === 'not-enrolled' ? fail('MEMBER_NOT_FOUND') : failConflict('TAKEN');
      },
      async updateMember(_, args, { caller }) {
        const partnerId = partnerOf(caller);
        const memberId = parseText('memberId', args.memberId, LENGTHS.id);
        const member = await store.updateNames(partnerId, memberId, parseNames(args.input));
        return member ?? fail('MEMBER_NOT_FOUND');
      },
    },
  } satisfies Resolvers;
}

const CONFLICTS: Record<ExternalIdConflict, string> = {
  TAKEN: 'the external ID is active for another member',
  MEMBER_HAS_ANOTHER: 'the member is active with another external ID',
};

function failConflict(reason: ExternalIdConflict): never {
  return fail('EXTERNAL_ID_CONFLICT', CONFLICTS[reason], { reason });
}

/** Checks the arguments of enrolling and inviting. Fails with BAD_USER_INPUT. */
export function parseEnrollment(partnerId: string, input: EnrollMemberInput): EnrollInput {
  return {
    partnerId,
    address: parseAddress('input.email', input.email),
    externalId: parseOptionalText('input.externalId', input.externalId, LENGTHS.externalId),
    firstName: parseOptionalName('input.firstName', input.firstName),
    lastName: parseOptionalName('input.lastName', input.lastName),
  };
}
