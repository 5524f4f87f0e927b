// Resolvers of changing a member's address, of undoing that, and of contesting the undoing.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { UndoResult } from '../rules/emailchange.ts';
import type { Member } from '../rules/member.ts';
import { endingSessions } from '../signingkeys/endedsessions.ts';
import type { MembersStore } from '../store/store.ts';
import { digest } from '../tables/access.ts';
import type { MailTask } from '../tables/outbox.ts';
import { ownerOf, parseAddress, requireService } from './input.ts';
import { type EnqueueMail, hashTokenArgument } from './mail.ts';
import { profileOf } from './profile.ts';
import type { Resolvers } from './schema.generated.ts';

/** How a page's form redeems a token: the language of its mail, and the form's ID. */
type Sent = { language?: MailTask['language']; formId?: string | null | undefined };
type EmailChangeStore = Pick<MembersStore, 'tokens' | 'locks' | 'endedSessions'>;

export function createEmailChange(
  store: EmailChangeStore,
  baseAddress: string,
  enqueueMail: EnqueueMail,
) {
  const refusal = `a token that a partner holds cannot change the address; the member can, on ${baseAddress}/sign-in`;
  const confirm = createConfirm(store, enqueueMail);
  const undo = createUndo(store, enqueueMail);
  const { locks, endedSessions } = store;

  return {
    Mutation: {
      requestEmailChange(_, { email }, { caller }) {
        const memberId = ownerOf(caller, 'email', refusal);
        return enqueueMail({ kind: 'change', memberId, address: parseAddress('email', email) });
      },
      async confirmEmailChange(_, { token }, { caller }) {
        return profileOf(await confirm(token, ownerOf(caller, 'email', refusal)), undefined);
      },
      confirmChange(_, { token, ...sent }, { caller }) {
        requireService(caller);
        return confirm(token, undefined, sent);
      },
      async undoChange(_, { token, ...sent }, { caller }) {
        requireService(caller);
        const hash = hashTokenArgument('undo', token);
        for (;;) {
          const member = await undo(hash, sent);
          if (member !== undefined) return member;
        }
      },
      async contestUndo(_, { token, formId }, { caller }) {
        requireService(caller);
        const hash = hashTokenArgument('contest', token);
        const by = formId ?? undefined;
        const memberId = (await locks.findContest(hash, Date.now(), by)) ?? fail('INVALID_TOKEN');
        const isLocked = await endingSessions(endedSessions, memberId, () =>
          locks.contest(hash, Date.now(), by),
        );
        return isLocked ? memberId : fail('INVALID_TOKEN');
      },
    },
  } satisfies Resolvers;
}

/** Returns a function that confirms a change of address; with `memberId`, only that member's. */
function createConfirm({ tokens }: EmailChangeStore, enqueueMail: EnqueueMail) {
  return async (
    token: string,
    memberId?: string,
    { language, formId }: Sent = {},
  ): Promise<Member> => {
    const hash = hashTokenArgument('change', token);
    const by = formId ?? undefined;
    const change = await tokens.findChange(hash, Date.now(), by);
    if (change === undefined || (memberId !== undefined && change.memberId !== memberId))
      return fail('INVALID_TOKEN');
    // Before the change, so that no crash leaves the former address without its notice; it is
    // dropped if the change is not made.
    const changeId = noticeOf(hash);
    const notice = { kind: 'changed', memberId: change.memberId, changeId, language } as const;
    if (!change.isMade) await enqueueMail(notice, changeId);
    return changedMember(await tokens.confirmChange(hash, changeId, Date.now(), by));
  };
}

/**
 * Returns a function that undoes a change of address. It resolves with `undefined` if the address
 * has changed again meanwhile.
 */
function createUndo({ tokens, endedSessions }: EmailChangeStore, enqueueMail: EnqueueMail) {
  return async (hash: string, { language, formId }: Sent): Promise<Member | undefined> => {
    const by = formId ?? undefined;
    const undoing = await tokens.findUndo(hash, Date.now(), by);
    const { memberId, taken } = undoing ?? fail('INVALID_TOKEN');
    const undoId = noticeOf(hash);
    // Before the undoing, as for the notice of a change.
    for (const address of taken)
      await enqueueMail(
        { kind: 'undone', memberId, undoId, address, language },
        digest(`${undoId}\n${address}`),
      );
    const result = await endingSessions(endedSessions, memberId, () =>
      tokens.undoChange(hash, { undoId, taken }, Date.now(), by),
    );
    return result.outcome === 'changed-since' ? undefined : changedMember(result);
  };
}

/** Half of the time that the job of a notice waits for what it is about. */
const NOTICE_MS = 30_000;

/** However often a link is used that changes nothing, its notice is one job. */
function noticeOf(hash: string): string {
  return digest(`${hash}\n${Math.floor(Date.now() / NOTICE_MS)}`);
}

function changedMember(result: Exclude<UndoResult, { outcome: 'changed-since' }>): Member {
  if (result.outcome === 'changed') return result.member;
  return fail(result.outcome === 'email-in-use' ? 'EMAIL_IN_USE' : 'INVALID_TOKEN');
}
