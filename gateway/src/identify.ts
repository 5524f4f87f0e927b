// Identifies the caller of a request, whichever endpoint it is for, and counts refused credentials.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { Call, Credential } from './call.ts';
import type { Authenticate, Principal } from './identity/authenticate.ts';
import type { Limiter } from './limits/limiter.ts';

export type IdentifyParts = {
  authenticate: Authenticate;
  limiter: Pick<Limiter, 'consumeRefusal'>;
};

export type Identify = (request: HttpRequest, call: Call) => Promise<void> | undefined;

/**
 * Checks the credential, on every path. A refused one is counted before any other work. Returns
 * undefined if there is nothing to wait for, as with a key or token that is cached.
 */
export function createIdentify({ authenticate, limiter }: IdentifyParts): Identify {
  async function countRefused(request: HttpRequest, call: Call): Promise<void> {
    const verdict = await limiter.consumeRefusal(request.address);
    if (verdict.allowed) return;
    call.refusal = verdict;
    fail('RATE_LIMITED');
  }

  function identified(request: HttpRequest, call: Call, credential: Credential) {
    call.credential = credential;
    if ('principal' in credential) call.principal = credential.principal;
    return isRefused(credential) ? countRefused(request, call) : undefined;
  }

  return (request, call) => {
    try {
      const found = authenticate(request.headers, request);
      if (!(found instanceof Promise)) return identified(request, call, found);
      return found.then(
        (late) => identified(request, call, late),
        (error: unknown) => identified(request, call, { kind: 'unavailable', error }),
      );
    } catch (error) {
      return identified(request, call, { kind: 'unavailable', error });
    }
  };
}

/** The principal, if the credential names one. Throws if the credential alone decides the reply. */
export function requireUsable(credential: Credential): Principal | undefined {
  if (credential.kind === 'mismatch') fail('KEY_ENVIRONMENT_MISMATCH');
  if ('principal' in credential && credential.principal?.isSuspended) fail('PARTNER_SUSPENDED');
  if (credential.kind === 'ambiguous') fail('AMBIGUOUS_CREDENTIALS');
  if (credential.kind === 'unavailable') throw credential.error;
  return credential.kind === 'principal' ? credential.principal : undefined;
}

function isRefused(credential: Credential): boolean {
  if (credential.kind === 'ambiguous') return credential.principal === undefined;
  return credential.kind === 'refused';
}
