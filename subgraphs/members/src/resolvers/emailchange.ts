// Resolvers of changing a member's address and of undoing that.
import { randomUUID } from 'node:crypto';
import { fail, type Scope } from '@partner-loyalty/runtime';
import type { EmailChangeResult } from '../rules/emailchange.ts';
import type { Member } from '../rules/member.ts';
import type { MembersStore } from '../store/store.ts';
import { parseAddress } from './input.ts';
import { profileOf } from './lookups.ts';
import { type EnqueueMail, hashTokenArgument } from './mail.ts';
import type { Resolvers } from './schema.generated.ts';
import { memberOf, requireService } from './scope.ts';

export function createEmailChange(
  { tokens }: Pick<MembersStore, 'tokens'>,
  enqueueMail: EnqueueMail,
) {
  /** Confirms a change of address; with `memberId`, only that member's. */
  const confirm = async (token: string, memberId?: string): Promise<Member> => {
    const hash = hashTokenArgument('change', token);
    const change = await tokens.findChange(hash, Date.now());
    if (change === undefined || (memberId !== undefined && change.memberId !== memberId))
      return fail('INVALID_TOKEN');
    // Before the change, so that no crash leaves the former address without its notice; it is
    // dropped if the change is not made.
    const changeId = randomUUID();
    await enqueueMail({ kind: 'changed', memberId: change.memberId, changeId });
    return changedMember(await tokens.confirmChange(hash, changeId, Date.now()));
  };

  return {
    Mutation: {
      requestEmailChange(_, { email }, { scope }) {
        const memberId = ownerOf(scope);
        return enqueueMail({ kind: 'change', memberId, address: parseAddress('email', email) });
      },
      async confirmEmailChange(_, { token }, { scope }) {
        return profileOf(await confirm(token, ownerOf(scope)), undefined);
      },
      confirmChange(_, { token }, { scope }) {
        requireService(scope);
        return confirm(token);
      },
      async undoChange(_, { token }, { scope }) {
        requireService(scope);
        const hash = hashTokenArgument('undo', token);
        return changedMember(await tokens.undoChange(hash, randomUUID(), Date.now()));
      },
    },
  } satisfies Resolvers;
}

function changedMember(result: EmailChangeResult): Member {
  if (result.outcome === 'changed') return result.member;
  return fail(result.outcome === 'email-in-use' ? 'EMAIL_IN_USE' : 'INVALID_TOKEN');
}

// An ID token that a partner exchanged has been in the partner's hands, so it does not authorize a
// change of address.
function ownerOf(scope: Scope): string {
  const { memberId, partnerId } = memberOf(scope);
  return partnerId === undefined ? memberId : fail('INVALID_TOKEN');
}
