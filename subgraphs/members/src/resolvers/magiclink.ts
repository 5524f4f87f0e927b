// Resolvers of signing in by magic link, and of the keys that verify the ID tokens it gives.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { Redeemer } from '../rules/token.ts';
import { PAGE_SIZE } from '../signingkeys/endedsessions.ts';
import { openIssuer } from '../signingkeys/idtoken.ts';
import { publicKeys } from '../signingkeys/signingkey.ts';
import type { MembersStore } from '../store/store.ts';
import { parseLookupAddress, partnerOf, requireService } from './input.ts';
import { type EnqueueMail, hashTokenArgument } from './mail.ts';
import { profileOf } from './profile.ts';
import type { Resolvers } from './schema.generated.ts';

/** `issuer` is the issuer and the audience of ID tokens. */
export function createMagicLink(
  store: Pick<MembersStore, 'tokens' | 'locks' | 'signingKeys' | 'endedSessions'>,
  issuer: string,
  enqueueMail: EnqueueMail,
) {
  const openSession = async (token: string, redeemer: Redeemer) => {
    const hash = hashTokenArgument('sign-in', token);
    // Before redeeming, so that the token is not used up if there is no key to sign with.
    const issue = await openIssuer(store);
    const member =
      (await store.tokens.redeemSignIn(hash, redeemer, Date.now())) ?? fail('INVALID_TOKEN');
    const azp = redeemer === 'own-page' ? undefined : redeemer.partnerId;
    const { memberId, email } = profileOf(member, azp);
    const { idToken, expiresAt } = await issue({ memberId, email, azp }, issuer, new Date());
    // An undoing or a lock after this ends the token; after one before, the link is not valid.
    if ((await store.tokens.confirmSignIn(memberId, { address: member.address })) === undefined)
      fail('INVALID_TOKEN');
    return { memberId, idToken, expiresAt: expiresAt.toISOString() };
  };

  return {
    Query: {
      async signingKeys(_, _args, { caller }) {
        requireService(caller);
        return JSON.stringify(await publicKeys(store.signingKeys, Date.now()));
      },
      endedSessions(_, { since }, { caller }) {
        requireService(caller);
        return store.endedSessions.list(since, PAGE_SIZE);
      },
    },
    Mutation: {
      requestMagicLink(_, { email }, { caller }) {
        const partnerId = partnerOf(caller);
        const address = parseLookupAddress('email', email).canonical;
        return enqueueMail({ kind: 'magic-link', partnerId, address });
      },
      exchangeMagicLink: (_, { token }, { caller }) =>
        openSession(token, { partnerId: partnerOf(caller) }),
      signIn(_, { token }, { caller }) {
        requireService(caller);
        return openSession(token, 'own-page');
      },
    },
  } satisfies Resolvers;
}
