// The claims behind an access token that the gateway has verified.
import type { MembersStore } from '../store/store.ts';
import { CLAIMS, claimsOf } from './claims.ts';

/** `text` is JSON: the claims of the token. Undefined if the member or the app is gone. */
export async function userinfoOf(
  store: Pick<MembersStore, 'member' | 'apps'>,
  text: string,
): Promise<string | undefined> {
  // Cast: only the gateway asks, about tokens of this provider.
  const token = JSON.parse(text) as { sub: string; client_id: string; scope: string };
  const member = await store.member(token.sub);
  const app = await store.apps.find(token.client_id);
  if (member === undefined || app === undefined) return undefined;
  const { partnerId: partner_id, isFirstParty = false } = app;
  const claims = claimsOf(member, { partner_id, is_first_party: isFirstParty }, undefined);
  const scopes = token.scope.split(' ');
  const allowed = Object.entries(CLAIMS).flatMap(([scope, names]) =>
    scopes.includes(scope) ? names : [],
  );
  return JSON.stringify(
    Object.fromEntries(Object.entries(claims).filter(([name]) => allowed.includes(name))),
  );
}
