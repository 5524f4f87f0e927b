// Resolvers of signing in and of changing an address: whose behalf, the arguments, the store; mail is only promised here and sent later.
import { randomUUID } from 'node:crypto';
import { fail, type Scope } from '@partner-loyalty/runtime';
import { parseAddress, parseLookupAddress, parseText } from './input.ts';
import type { MailTask } from './outbox/outbox.ts';
import { memberOf, partnerOf, profileOf } from './resolvers.ts';
import type { Redeemer } from './rules/redeem.ts';
import { hashToken, type TokenUse } from './rules/token.ts';
import type { Resolvers } from './schema.generated.ts';
import { openSigner } from './signingkeys/idtoken.ts';
import { publicKeys } from './signingkeys/signingkey.ts';
import type { Member, MembersStore } from './store/store.ts';

export type MembersOptions = {
  /** The environment's base address: issuer and audience of the ID tokens. */
  baseAddress: string;
  /** Called when there is mail to send. */
  wake(): void;
};

export function createSignInResolvers(store: MembersStore, { baseAddress, wake }: MembersOptions) {
  /** The same single write for whomever it is, so that nothing about the answer tells. */
  const promiseMail = async (errand: MailTask) => {
    await store.outbox.add({ jobId: randomUUID(), errand, requestedAt: Date.now() });
    wake();
    return { accepted: true };
  };

  const openSession = async (token: string, redeemer: Redeemer, azp?: string) => {
    const hash = tokenHash('sign-in', token);
    // First, so that the token is not used up where there is no key to sign with.
    const issue = await openSigner(store.signingKeys);
    const member =
      (await store.tokens.takeSignIn(hash, redeemer, Date.now())) ?? fail('INVALID_TOKEN');
    const { memberId, email } = member;
    const { idToken, expiresAt } = await issue({ memberId, email, azp }, baseAddress, new Date());
    return { memberId, idToken, expiresAt: expiresAt.toISOString() };
  };

  const changeAddress = async (token: string, memberId?: string): Promise<Member> => {
    const hash = tokenHash('change', token);
    const proven = await store.tokens.provenChange(hash, Date.now());
    if (proven === undefined || (memberId !== undefined && proven.memberId !== memberId))
      return fail('INVALID_TOKEN');
    // Before the change, so that no crash leaves the former address without its notice; where the change does not come about, none is sent.
    const changeId = randomUUID();
    await promiseMail({ kind: 'changed', memberId: proven.memberId, changeId });
    return memberAfter(await store.tokens.confirmChange(hash, changeId, Date.now()));
  };

  return {
    Query: {
      async signingKeys(_, _none, { scope }) {
        requireService(scope);
        return JSON.stringify(await publicKeys(store.signingKeys, Date.now()));
      },
    },
    Mutation: {
      requestMagicLink(_, { email }, { scope }) {
        return promiseMail({
          kind: 'magic-link',
          partnerId: partnerOf(scope),
          address: parseLookupAddress('email', email),
        });
      },
      exchangeMagicLink(_, { token }, { scope }) {
        const partnerId = partnerOf(scope);
        return openSession(token, { partnerId }, partnerId);
      },
      requestEmailChange(_, { email }, { scope }) {
        return promiseMail({
          kind: 'change',
          memberId: ownerOf(scope),
          address: parseAddress('email', email),
        });
      },
      async confirmEmailChange(_, { token }, { scope }) {
        return profileOf(await changeAddress(token, ownerOf(scope)), undefined);
      },
      signIn(_, { token }, { scope }) {
        requireService(scope);
        return openSession(token, 'own-page');
      },
      confirmChange(_, { token }, { scope }) {
        requireService(scope);
        return changeAddress(token);
      },
      async undoChange(_, { token }, { scope }) {
        requireService(scope);
        return memberAfter(
          await store.tokens.undoChange(tokenHash('undo', token), randomUUID(), Date.now()),
        );
      },
    },
  } satisfies Resolvers;
}

/** Fails with INVALID_TOKEN for what cannot be a token, and with BAD_USER_INPUT for what no argument may be. */
function tokenHash(use: TokenUse, token: string): string {
  return (
    hashToken(use, parseText('token', token, Number.POSITIVE_INFINITY)) ?? fail('INVALID_TOKEN')
  );
}

function memberAfter(
  changed: Awaited<ReturnType<MembersStore['tokens']['confirmChange']>>,
): Member {
  if (changed.outcome === 'changed') return changed.member;
  return fail(changed.outcome === 'email-in-use' ? 'EMAIL_IN_USE' : 'INVALID_TOKEN');
}

// An ID token that a partner exchanged has been in the partner's hands: for changing the address it is not a valid one.
function ownerOf(scope: Scope): string {
  const { memberId, partnerId } = memberOf(scope);
  return partnerId === undefined ? memberId : fail('INVALID_TOKEN');
}

// The surfaces let no other scope come this far; this holds where one of them is cut wrong.
function requireService(scope: Scope): void {
  if (scope.kind !== 'service') fail('INTERNAL_SERVER_ERROR');
}
