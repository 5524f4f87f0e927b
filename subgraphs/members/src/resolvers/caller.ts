// Checks who calls a resolver.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';

// Each surface has only the fields of its callers; these checks hold even if one exposes too much.

export function partnerOf(caller: Caller): string {
  return caller.kind === 'partner' ? caller.partnerId : fail('INTERNAL_SERVER_ERROR');
}

/** `partnerId` is set if a partner holds the member's token. */
export function memberOf(caller: Caller): { memberId: string; partnerId?: string } {
  return caller.kind === 'member' ? caller : fail('INTERNAL_SERVER_ERROR');
}

export function requireService(caller: Caller): void {
  if (caller.kind !== 'service') fail('INTERNAL_SERVER_ERROR');
}
