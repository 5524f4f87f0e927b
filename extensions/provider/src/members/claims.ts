// What an app learns of a member (OpenID Connect Core, section 5.1).

import { profileOf } from '@partner-loyalty/members/resolvers/profile.ts';
import type { Member } from '@partner-loyalty/members/rules/member.ts';
import { isConfirmed, type MemberRecord } from '@partner-loyalty/members/rules/record.ts';
import type { MembersStore } from '@partner-loyalty/members/store/store.ts';
import type { App } from '@partner-loyalty/members/tables/apps.ts';
import { canonicalEmail, mailboxOf } from '@partner-loyalty/runtime/email.ts';

/** The claims by scope. */
export const CLAIMS = {
  openid: ['sub', 'iat', 'iat_ms', 'sid', 'scope', 'partner_id', 'first_party_of'],
  email: ['email', 'email_verified'],
  profile: ['name', 'given_name', 'family_name'],
};
export const SCOPES = ['openid', 'profile', 'email', 'offline_access'];

/** A partner's app sees what its partner sees. `sid` and `scope` are those of the tokens. */
export function claimsOf(member: Member, app: App, sid?: string, scope?: string) {
  const { email, firstName, lastName } = profileOf(member, viewOf(app));
  const name = [firstName, lastName].filter((part) => part !== undefined).join(' ');
  // A partner may have written it in another way. Cast: the store reads members as records.
  const isCurrent =
    canonicalEmail(email) === canonicalEmail(member.email) && isConfirmed(member as MemberRecord);
  return {
    sub: member.memberId,
    // What was proved is that the mail of this one is read.
    email: isCurrent ? mailboxOf(email) : email,
    email_verified: isCurrent,
    ...(name !== '' && { name }),
    ...(firstName !== undefined && { given_name: firstName }),
    ...(lastName !== undefined && { family_name: lastName }),
    ...(sid !== undefined && { sid }),
    ...(scope !== undefined && { scope }),
    ...holderOf(app),
  };
}

/** Whose app it is, by which the gateway refuses the tokens of suspended partners. */
export function holderOf({ partnerId, isFirstParty }: App) {
  return isFirstParty ? { first_party_of: partnerId } : { partner_id: partnerId };
}

/** The partner whose view the app has; undefined for one that sees all. */
export function viewOf({ partnerId, isFirstParty }: App): string | undefined {
  return isFirstParty ? undefined : partnerId;
}

/**
 * The claims behind an access token that the gateway has verified; `text` is JSON, the claims of
 * the token. Undefined if the member or the app is gone.
 */
export async function userinfoOf(
  store: Pick<MembersStore, 'member' | 'apps'>,
  text: string,
): Promise<string | undefined> {
  // Cast: only the gateway asks, about tokens of this provider.
  const token = JSON.parse(text) as { sub: string; client_id: string; scope: string };
  const member = await store.member(token.sub);
  const app = await store.apps.find(token.client_id);
  if (member === undefined || app === undefined) return undefined;
  const scopes = token.scope.split(' ');
  const allowed = Object.entries(CLAIMS).flatMap(([scope, names]) =>
    scopes.includes(scope) ? names : [],
  );
  const claims = Object.entries(claimsOf(member, app));
  return JSON.stringify(Object.fromEntries(claims.filter(([name]) => allowed.includes(name))));
}
