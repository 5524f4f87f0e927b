// Identifies the caller from the request headers: a principal, or the reason why there is none.
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import type { HeaderName, RequestHeaders } from '@partner-loyalty/runtime/http/headers.ts';
import { MEMBER } from '@partner-loyalty/runtime/http/shares.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import { EVERY_SCOPE, type ScopeBits } from '../schema/scopes.ts';
import { parseKey } from './apikey.ts';
import type { Client } from './freshrecords.ts';
import type { MemberToken, TokenRefusal, TokenVerifier } from './idtoken.ts';
import type { Key, Keyring } from './keyring.ts';
import type { KeyEndpoint } from './keystore.ts';
import type { IsSuspended } from './suspensions.ts';

/** Root fields a member may select in a window (docs/callers/limits.md, Budget). */
export const MEMBER_BUDGET = 120;

export type Principal = {
  /** The key's or the member's id; the budget is counted under it. */
  id: string;
  surface: 'partner' | 'member';
  /** The partner that holds the key or token, or the member: shares of the service are by owner. */
  owner: string;
  caller: Caller;
  /** Root fields in a window of `policy`. */
  budget: number;
  policy: 'key' | 'member';
  scopes: ScopeBits;
  /** Whether the partner whose key or token it is may do nothing at all. */
  isSuspended: boolean;
  /** The app that holds the member's token. */
  clientId?: string | undefined;
  /** Whether it may only run queries. */
  isReadOnly?: boolean | undefined;
};

/** The partner that makes the request, by its key or by a token that it holds. */
export function partnerIdOf({ caller }: Pick<Principal, 'caller'>): string | undefined {
  return caller.kind === 'service' ? undefined : caller.partnerId;
}

export type Authenticated =
  | { kind: 'principal'; principal: Principal }
  /** A well-formed key of the other environment; checked before anything else. */
  | { kind: 'mismatch' }
  /** Both a key and a token; the principal is the key's, if the key is valid. */
  | { kind: 'ambiguous'; principal: Principal | undefined; refused: Refused | undefined }
  | Refused
  /** No credential, an empty one, or an authorization scheme other than Bearer. */
  | { kind: 'none' };

/** A key or token that is not valid. Callers cannot tell the reasons apart; the log has them. */
export type Refused = {
  kind: 'refused';
  /** `address` is that of a key used from one that is not on its list. */
  reason: TokenRefusal | 'address';
  /** The ID of a key that exists. */
  keyId?: string;
  partnerId?: string;
};

export type Authenticate = (headers: RequestHeaders, client: Client) => MaybePromise<Authenticated>;

const MISMATCH: Authenticated = { kind: 'mismatch' };
const MALFORMED: Authenticated = { kind: 'refused', reason: 'malformed' };
const UNKNOWN: Authenticated = { kind: 'refused', reason: 'unknown' };
const NONE: Authenticated = { kind: 'none' };

/**
 * The returned function gives a plain value if the key or token is cached, and fails with
 * SERVICE_UNAVAILABLE if the credential cannot be checked. `keyBudget` applies to the keys of a
 * partner without a budget of its own.
 */
export function createAuthenticator(
  parts: KeyParts & {
    tokens: TokenVerifier;
    isSuspended: IsSuspended;
    /** Whether a client address is over its limit of refused credentials. */
    isOver(address: string): boolean;
  },
): Authenticate {
  const { environment, tokens, isSuspended, isOver } = parts;
  const find = createFind(parts, 'graphql');
  const toMember = (token: MemberToken | TokenRefusal): MaybePromise<Authenticated> => {
    if (typeof token === 'string') return { kind: 'refused', reason: token };
    const holder = token.partnerId ?? token.firstPartyOf;
    if (holder === undefined) return memberOf(token, false);
    return mapMaybe(isSuspended(holder), (suspended) => memberOf(token, suspended));
  };

  return (headers, client) => {
    const text = keyIn(headers, 'x-partner-api-key');
    const token = bearerToken(headers.authorization);
    const parsed = text === '' ? undefined : parseKey(text);
    if (parsed && parsed.environment !== environment) return MISMATCH;
    if (text !== '') {
      const ofKey = parsed ? find(text, client) : MALFORMED;
      return token === undefined ? ofKey : mapMaybe(ofKey, besideToken);
    }
    if (token === undefined) return NONE;
    return mapMaybe(
      tokens.verify(token, () => !isOver(client.address)),
      toMember,
    );
  };
}

/**
 * Like createAuthenticator, for `/mcp`: an MCP key is its only credential, and others are not read.
 */
export function createMcpAuthenticator(parts: KeyParts): Authenticate {
  const find = createFind(parts, 'mcp');
  return (headers, client) => {
    const text = keyIn(headers, 'x-api-key');
    if (text === '') return NONE;
    const parsed = parseKey(text, 'mcp');
    if (parsed === undefined) return MALFORMED;
    return parsed.environment === parts.environment ? find(text, client) : MISMATCH;
  };
}

type KeyParts = { environment: Environment; keyring: Keyring; keyBudget: number };

/** Returns a function that finds the caller with a well-formed key for the endpoint. */
function createFind({ keyring, keyBudget }: KeyParts, endpoint: KeyEndpoint) {
  const toPartner = (key: Key | undefined, client: Client): Authenticated => {
    if (key?.endpoint !== endpoint) return UNKNOWN;
    const isElsewhere = key.allowed?.has(client.address) === false;
    if (key.ended === undefined && !isElsewhere) return partnerOf(key, keyBudget);
    const { keyId, partnerId, ended: reason = 'address' } = key;
    return { kind: 'refused', reason, keyId, partnerId };
  };
  return (text: string, client: Client): MaybePromise<Authenticated> =>
    mapMaybe(keyring.find(text, client), (key) => toPartner(key, client));
}

function besideToken(ofKey: Authenticated): Authenticated {
  return {
    kind: 'ambiguous',
    principal: 'principal' in ofKey ? ofKey.principal : undefined,
    refused: ofKey.kind === 'refused' ? ofKey : undefined,
  };
}

/**
 * The token of a Bearer authorization (RFC 6750, section 2.1); undefined for other schemes and an
 * empty token. Linear in the header's length.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  const token = authorization.slice(7).trimStart();
  return token === '' ? undefined : token;
}

/** Node joins repeated headers into one value, which is never a valid key. */
function keyIn(headers: RequestHeaders, name: HeaderName): string {
  return String(headers[name] ?? '').trim();
}

function partnerOf(key: Key, keyBudget: number): Authenticated {
  const { keyId, partnerId, budget, scopes, isSuspended } = key;
  const caller: Caller = { kind: 'partner', partnerId, keyId };
  return {
    kind: 'principal',
    principal: {
      id: keyId,
      surface: 'partner',
      owner: partnerId,
      caller,
      budget: budget ?? keyBudget,
      policy: 'key',
      scopes,
      isSuspended,
    },
  };
}

function memberOf(token: MemberToken, isSuspended: boolean): Authenticated {
  const { memberId, partnerId, firstPartyOf, clientId, scopes, isIdOfApp: isReadOnly } = token;
  const caller: Caller = {
    kind: 'member',
    memberId,
    ...(partnerId !== undefined && { partnerId }),
    ...(scopes !== undefined && { scopes }),
  };
  // A token that a partner or an app holds has a separate budget, which neither reveals nor reduces
  // what the member uses elsewhere.
  const holder = clientId === undefined ? partnerId : `app ${clientId}`;
  return {
    kind: 'principal',
    principal: {
      id: holder === undefined ? memberId : `${memberId}\n${holder}`,
      surface: 'member',
      owner: partnerId ?? firstPartyOf ?? MEMBER + memberId,
      caller,
      budget: MEMBER_BUDGET,
      policy: 'member',
      scopes: EVERY_SCOPE,
      isSuspended,
      clientId,
      isReadOnly,
    },
  };
}
