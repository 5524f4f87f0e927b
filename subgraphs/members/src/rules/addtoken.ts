// The rules of adding a mailed token to its member's record.
import {
  type AddressChange,
  type ChangeToken,
  type SignInToken,
  type StoredToken,
  TOKEN_USES,
} from './mailedtoken.ts';
import { enrolledKey, type MemberRecord, type MemberRecords } from './record.ts';
import { unexpiredTokens } from './redeem.ts';

/**
 * Whoever made a change that was undone may have a valid ID token for another hour; until then, no
 * change can start.
 */
const REST_MS = 60 * 60_000;

/**
 * Adds a sign-in token to the member who has the address and is actively enrolled with the token's
 * partner. Returns the member; undefined if there is none.
 */
export function addSignInToken(
  records: MemberRecords,
  token: Omit<SignInToken, 'address'>,
  canonical: string,
  now: number,
): MemberRecord | undefined {
  const record = records.byKey(enrolledKey(token.partnerId, canonical));
  return record && addToken(records, record, { ...token, address: record.address }, now);
}

/**
 * Adds a token for a change of address. False if there is no such member, or a change was undone
 * less than an hour ago.
 */
export function addChangeToken(
  records: MemberRecords,
  token: ChangeToken,
  memberId: string,
  now: number,
): boolean {
  const record = records.byId(memberId);
  if (record === undefined || (record.undone !== undefined && record.undone.at + REST_MS > now))
    return false;
  addToken(records, record, token, now);
  return true;
}

/**
 * Adds a token that undoes a change of address, and returns the change; undefined if there is no
 * such change.
 */
export function addUndoToken(
  records: MemberRecords,
  hash: string,
  memberId: string,
  changeId: string,
  now: number,
): AddressChange | undefined {
  const record = records.byId(memberId);
  const change = record?.changes?.find(({ id }) => id === changeId);
  if (record === undefined || change === undefined) return undefined;
  const expiresAt = change.at + TOKEN_USES.undo.lifetimeMs;
  addToken(records, record, { use: 'undo', hash, changeId, expiresAt }, now);
  return change;
}

function addToken(
  records: MemberRecords,
  record: MemberRecord,
  token: StoredToken,
  now: number,
): MemberRecord {
  const next = { ...record, tokens: [...unexpiredTokens(record, now), token] };
  records.write(record, next);
  return next;
}
