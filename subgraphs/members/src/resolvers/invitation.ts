// Resolvers of inviting a person to enroll, and of accepting.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { MembersStore } from '../store/store.ts';
import type { Invitation } from '../tables/invitation.ts';
import { parseEnrollment } from './enrollment.ts';
import { partnerOf, requireService } from './input.ts';
import { type EnqueueMail, hashTokenArgument } from './mail.ts';
import type { Resolvers } from './schema.generated.ts';

/** Longer than enrolling can take. */
const LEASE_MS = 30_000;

export function createInvitations(
  {
    invitations,
    partners,
    enrollInvited,
  }: Pick<MembersStore, 'invitations' | 'partners' | 'enrollInvited'>,
  enqueueMail: EnqueueMail,
) {
  const shown = async ({ partnerId, address }: Invitation) => {
    const partner = await partners.get(partnerId);
    return { partnerName: partner?.name ?? partnerId, email: address.typed };
  };

  return {
    Query: {
      async invitation(_, { token }, { caller }) {
        requireService(caller);
        const hash = hashTokenArgument('invitation', token);
        return shown((await invitations.find(hash, Date.now())) ?? fail('INVALID_TOKEN'));
      },
    },
    Mutation: {
      inviteMember: (_, { input }, { caller }) =>
        enqueueMail({ kind: 'invitation', ...parseEnrollment(partnerOf(caller), input) }),
      async acceptInvitation(_, { token, formId }, { caller }) {
        requireService(caller);
        const hash = hashTokenArgument('invitation', token);
        const by = formId ?? undefined;
        // A read first, so that guessing tokens costs no write.
        if ((await invitations.find(hash, Date.now(), by)) === undefined) fail('INVALID_TOKEN');
        const invitation =
          (await invitations.claim(hash, Date.now(), LEASE_MS, by)) ?? fail('INVALID_TOKEN');
        const member = await enrollInvited(invitation);
        // After enrolling, so that no crash loses the consent.
        await invitations.accepted(hash, Date.now(), by);
        return member === undefined ? fail('INVALID_TOKEN') : shown(invitation);
      },
    },
  } satisfies Resolvers;
}
