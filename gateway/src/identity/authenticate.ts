// Tells from a request's headers who asks: headers in, a principal or the reason why there is none out.
import type { IncomingHttpHeaders } from 'node:http';
import {
  type Environment,
  HEADERS,
  type MaybePromise,
  mapMaybe,
  type Scope,
} from '@partner-loyalty/runtime';
import { MEMBER_BUDGET } from '../limits/limiter.ts';
import { parseKey } from './apikey.ts';
import type { MemberToken, TokenVerifier } from './idtoken.ts';
import type { Key, Keyring } from './keyring.ts';

/** Who asks. `id` is the key's or the member's, and the subject of the budget: `budget` root fields in a window of `policy`. */
export type Principal = {
  id: string;
  surface: 'partner' | 'member';
  scope: Scope;
  budget: number;
  policy: 'key' | 'member';
};

export type Authenticated =
  | { kind: 'principal'; principal: Principal }
  /** A well-formed key of the other environment; found before anything else. */
  | { kind: 'mismatch' }
  /** A key and a token, whatever they are. */
  | { kind: 'ambiguous' }
  /** A key or a token that is malformed, unknown, revoked or expired. */
  | { kind: 'refused' }
  /** No credential, an empty one, or an authorization of another scheme than Bearer. */
  | { kind: 'none' };

export type Authenticate = (headers: IncomingHttpHeaders) => MaybePromise<Authenticated>;

const MISMATCH: Authenticated = { kind: 'mismatch' };
const AMBIGUOUS: Authenticated = { kind: 'ambiguous' };
const REFUSED: Authenticated = { kind: 'refused' };
const NONE: Authenticated = { kind: 'none' };
const BEARER = /^Bearer +(.+)$/i;

/**
 * Reads the credential of a request. Answers the plain value where key or token is cached. Fails with SERVICE_UNAVAILABLE where the
 * credential cannot be checked. `keyBudget` is the budget of keys whose partner has none of its own.
 */
export function createAuthenticate(rules: {
  environment: Environment;
  keyring: Keyring;
  tokens: TokenVerifier;
  keyBudget: number;
}): Authenticate {
  const { environment, keyring, tokens, keyBudget } = rules;
  const ofKey = (key: Key | undefined) => (key ? asPartner(key, keyBudget) : REFUSED);

  return (headers) => {
    const text = partnerKey(headers);
    const token = BEARER.exec(headers[HEADERS.authorization.name] ?? '')?.[1];
    const parsed = text === '' ? undefined : parseKey(text);
    if (parsed && parsed.environment !== environment) return MISMATCH;
    if (text !== '' && token !== undefined) return AMBIGUOUS;
    if (parsed) return mapMaybe(keyring.find(text), ofKey);
    if (text !== '') return REFUSED;
    return token === undefined ? NONE : mapMaybe(tokens.verify(token), asMember);
  };
}

/** Node joins a repeated header into one value, which no key is. */
function partnerKey(headers: IncomingHttpHeaders): string {
  return String(headers[HEADERS.partnerKey.name] ?? '').trim();
}

function asPartner({ keyId, partnerId, budget }: Key, keyBudget: number): Authenticated {
  const scope: Scope = { kind: 'partner', partnerId };
  return {
    kind: 'principal',
    principal: { id: keyId, surface: 'partner', scope, budget: budget ?? keyBudget, policy: 'key' },
  };
}

function asMember(token: MemberToken | undefined): Authenticated {
  if (token === undefined) return REFUSED;
  const { memberId, partnerId } = token;
  const scope: Scope =
    partnerId === undefined
      ? { kind: 'member', memberId }
      : { kind: 'member', memberId, partnerId };
  // A token in a partner's hands has a budget of its own: it tells nothing of what the member does elsewhere, and takes nothing away there.
  const id = partnerId === undefined ? memberId : `${memberId}\n${partnerId}`;
  return {
    kind: 'principal',
    principal: { id, surface: 'member', scope, budget: MEMBER_BUDGET, policy: 'member' },
  };
}
