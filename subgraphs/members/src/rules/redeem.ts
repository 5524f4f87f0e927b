// The rules of redeeming mailed tokens, which are stored in their member's record.
import { activeEnrollment } from './enrollment.ts';
import type { SignInToken, StoredToken } from './mailedtoken.ts';
import { isLocked, type MemberRecord, type MemberRecords, tokenKey } from './record.ts';

/**
 * Who redeems a sign-in token: the partner that requested it, or the member on this service's own
 * page.
 */
export type Redeemer = { partnerId: string } | 'own-page';

/**
 * Redeems a sign-in token and returns its member. Undefined if the token is not valid for this
 * redeemer; then it stays as it is.
 */
export function redeemSignInToken(
  records: MemberRecords,
  hash: string,
  redeemer: Redeemer,
  now: number,
): MemberRecord | undefined {
  const record = records.byKey(tokenKey(hash));
  const token = record && findToken(record, hash, 'sign-in', now);
  if (record === undefined || token === undefined || !isValidFor(record, token, redeemer))
    return undefined;
  const tokens = unexpiredTokens(record, now).filter((one) => one !== token);
  return records.write(record, { ...record, tokens });
}

/** The member's token with this hash, if it has this use and has not expired. */
export function findToken<Use extends StoredToken['use']>(
  record: MemberRecord,
  hash: string,
  use: Use,
  now: number,
): Extract<StoredToken, { use: Use }> | undefined {
  const matches = (token: StoredToken): token is Extract<StoredToken, { use: Use }> =>
    token.hash === hash && token.use === use;
  return unexpiredTokens(record, now).find(matches);
}

export function unexpiredTokens({ tokens = [] }: MemberRecord, now: number): StoredToken[] {
  return tokens.filter(({ expiresAt }) => expiresAt > now);
}

function isValidFor(record: MemberRecord, token: SignInToken, redeemer: Redeemer): boolean {
  if (token.address !== record.address || isLocked(record, record.address)) return false;
  if (redeemer === 'own-page') return token.ownPage;
  const { partnerId } = redeemer;
  return token.partnerId === partnerId && activeEnrollment(record, partnerId) !== undefined;
}
