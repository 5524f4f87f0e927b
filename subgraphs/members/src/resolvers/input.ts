// Checks who calls and with which arguments (docs/callers/errors.md); errors never contain a value.

import { ADDRESS_LENGTH, canonicalEmail } from '@partner-loyalty/runtime/email.ts';
import { fail, failInput } from '@partner-loyalty/runtime/errors.ts';
import { characterFault, isLongerThan } from '@partner-loyalty/runtime/input.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import type { Address, NamesChange } from '../rules/member.ts';
import type { UpdateProfileInput } from './schema.generated.ts';

/** The longest values, in characters after trimming. */
export const LENGTHS = {
  email: ADDRESS_LENGTH,
  externalId: 255,
  name: 100,
  id: 128,
  memberId: 128,
};

/**
 * Returns the argument, trimmed. Fails with BAD_USER_INPUT if it is empty, too long, or has control
 * characters or lone surrogates.
 */
export function parseText(argument: string, value: string, limit: number): string {
  if (/\p{Cc}/u.test(value)) failInput(argument, 'holds control characters');
  if (/\p{Cs}/u.test(value)) failInput(argument, 'holds lone surrogates');
  const trimmed = value.trim();
  if (trimmed === '') failInput(argument, 'is empty');
  if (isLongerThan(trimmed, limit)) failInput(argument, `is longer than ${limit} characters`);
  return trimmed;
}

/** Does the same for an optional argument; null counts as absent. */
export function parseOptionalText(
  argument: string,
  value: string | null | undefined,
  limit: number,
): string | undefined {
  return value === null || value === undefined ? undefined : parseText(argument, value, limit);
}

/** Does the same for a name, of which others must see all, and which must not alter their text. */
export function parseOptionalName(
  argument: string,
  value: string | null | undefined,
): string | undefined {
  const name = parseOptionalText(argument, value, LENGTHS.name);
  const unwanted = characterFault(value ?? '');
  if (unwanted !== undefined) failInput(argument, `holds ${unwanted}`);
  return name;
}

/** Checks names to change; null clears one. Fails with BAD_USER_INPUT. */
export function parseNames({ firstName, lastName }: UpdateProfileInput): NamesChange {
  const parse = (argument: string, value: string | null | undefined) =>
    value === null ? null : parseOptionalName(argument, value);
  return {
    firstName: parse('input.firstName', firstName),
    lastName: parse('input.lastName', lastName),
  };
}

/** Returns an address to store. Fails with BAD_USER_INPUT if the value is not an address. */
export function parseAddress(argument: string, value: string): Address {
  const typed = parseText(argument, value, LENGTHS.email);
  return {
    typed,
    canonical: canonicalEmail(typed) ?? failInput(argument, 'is not an email address'),
  };
}

/** Returns an address to look up. */
export function parseLookupAddress(argument: string, value: string): Address {
  return lookUpAddress(parseText(argument, value, LENGTHS.email));
}

/**
 * Returns an address to look up. Anything else is its own canonical form: it equals no stored
 * address, so the look-up takes the same path as for an unknown address.
 */
export function lookUpAddress(typed: string): Address {
  return { typed, canonical: canonicalEmail(typed) ?? typed };
}

// Each surface has only the fields of its callers; these checks hold even if one exposes too much.

export function partnerOf(caller: Caller): string {
  return caller.kind === 'partner' ? caller.partnerId : fail('INTERNAL_SERVER_ERROR');
}

/** `partnerId` is set if a partner holds the member's token. */
export function memberOf(caller: Caller): { memberId: string; partnerId?: string } {
  return caller.kind === 'member' ? caller : fail('INTERNAL_SERVER_ERROR');
}

/** Whether the caller may see or change the fields of a scope (docs/callers/openid.md, Apps). */
export function hasScope(caller: Caller, scope: FieldScope): boolean {
  if (caller.kind !== 'member' || caller.scopes === undefined) return true;
  return caller.scopes.split(' ').includes(scope);
}

export function requireScope(caller: Caller, scope: FieldScope): void {
  if (!hasScope(caller, scope)) fail('FORBIDDEN', `the token lacks the scope ${scope}`);
}

type FieldScope = 'profile' | 'email';

/**
 * The member who calls, for changes that nobody else may make. An ID token that a partner exchanged
 * has been in the partner's hands, so it does not authorize them: FORBIDDEN, with this message.
 */
export function ownerOf(caller: Caller, scope: FieldScope, message: string): string {
  const { memberId, partnerId } = memberOf(caller);
  requireScope(caller, scope);
  return partnerId === undefined ? memberId : fail('FORBIDDEN', message);
}

export function requireService(caller: Caller): void {
  if (caller.kind !== 'service') fail('INTERNAL_SERVER_ERROR');
}
