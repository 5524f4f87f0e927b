// Identifies the caller of a resolver from the scope of the request.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { Scope } from '@partner-loyalty/runtime/subgraph/types.ts';

// Each surface has only the fields of its scope; these checks hold even if one exposes too much.

export function partnerOf(scope: Scope): string {
  return scope.kind === 'partner' ? scope.partnerId : fail('INTERNAL_SERVER_ERROR');
}

/** `partnerId` is set if a partner holds the member's token. */
export function memberOf(scope: Scope): { memberId: string; partnerId?: string } {
  return scope.kind === 'member' ? scope : fail('INTERNAL_SERVER_ERROR');
}

export function requireService(scope: Scope): void {
  if (scope.kind !== 'service') fail('INTERNAL_SERVER_ERROR');
}
