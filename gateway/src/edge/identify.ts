// Identifies the caller of a request, whichever endpoint it is for, and counts refused credentials.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { type BudgetLimiter, charge } from '../budget/budget.ts';
import type { Authenticate } from '../identity/authenticate.ts';
import type { Credential, RequestState } from '../state.ts';

const IDENTIFIED_MS = 1_000;

export type IdentifyContext = { authenticate: Authenticate; limiter: BudgetLimiter };

/**
 * Checks the credential, on every path. A refused one is counted by the client's address before
 * any other work, and so is a missing one, unless a page has counted the request and it is for no
 * endpoint. Returns undefined if there is nothing to wait for, as with a key or token in a cache.
 */
export function identify(
  { authenticate, limiter }: IdentifyContext,
  request: HttpRequest,
  state: RequestState,
  isEndpoint: boolean,
): Promise<void> | undefined {
  function identified(credential: Credential) {
    state.credential = credential;
    if ('principal' in credential) state.principal = credential.principal;
    const isNeeded = isEndpoint || !request.isCounted;
    const counts = isRefused(credential) || (isNeeded && isMissing(credential));
    return counts ? countRefused(limiter, request, state) : undefined;
  }
  try {
    const found = authenticate(request.headers, request);
    if (!(found instanceof Promise)) return identified(found);
    return found.then(identified, (error: unknown) => identified({ kind: 'unavailable', error }));
  } catch (error) {
    return identified({ kind: 'unavailable', error });
  }
}

/**
 * Identifies a known caller again if its request has lasted over a second: its key may have been
 * revoked while the body arrived.
 */
export function identifyAgain(
  context: IdentifyContext,
  request: HttpRequest,
  state: RequestState,
): Promise<void> | undefined {
  const isRecent = performance.now() - state.startedAt <= IDENTIFIED_MS;
  if (isRecent || state.principal === undefined) return undefined;
  state.principal = undefined;
  return Promise.resolve(identify(context, request, state, true)).then(() =>
    requireUsable(state.credential),
  );
}

/** A token that was not verified may be valid, so it is not refused as one that is not. */
async function countRefused(
  limiter: BudgetLimiter,
  request: HttpRequest,
  state: RequestState,
): Promise<void> {
  const { credential } = state;
  const isUnverified = credential.kind === 'refused' && credential.reason === 'unverified';
  if (!(await charge(limiter, request, state)) || isUnverified) fail('RATE_LIMITED');
}

/** Throws if the response depends only on the credential. */
export function requireUsable(credential: Credential): void {
  if (credential.kind === 'mismatch') fail('KEY_ENVIRONMENT_MISMATCH');
  if ('principal' in credential && credential.principal?.isSuspended) fail('PARTNER_SUSPENDED');
  if (credential.kind === 'ambiguous') fail('AMBIGUOUS_CREDENTIALS');
  if (credential.kind === 'unavailable') throw credential.error;
}

/** Nothing shows who calls: a key of the other environment is not looked up. */
function isMissing({ kind }: Credential): boolean {
  return kind === 'none' || kind === 'mismatch';
}

function isRefused(credential: Credential): boolean {
  if (credential.kind === 'ambiguous') return credential.principal === undefined;
  return credential.kind === 'refused';
}
