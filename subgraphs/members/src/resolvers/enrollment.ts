// Resolvers of enrolling a member and ending an enrollment.
import { fail } from '@partner-loyalty/runtime';
import type { MembersStore } from '../store/store.ts';
import { LENGTHS, parseAddress, parseOptionalText, parseText } from './input.ts';
import type { Resolvers } from './schema.generated.ts';
import { partnerOf } from './scope.ts';

export function createEnrollment(store: Pick<MembersStore, 'enroll' | 'endEnrollment'>) {
  return {
    Mutation: {
      async enrollMember(_, { input }, { scope }) {
        const enrolled = await store.enroll({
          partnerId: partnerOf(scope),
          address: parseAddress('email', input.email),
          externalId: parseOptionalText('externalId', input.externalId, LENGTHS.externalId),
          firstName: parseOptionalText('firstName', input.firstName, LENGTHS.name),
          lastName: parseOptionalText('lastName', input.lastName, LENGTHS.name),
        });
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
