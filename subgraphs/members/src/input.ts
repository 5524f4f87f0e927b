// Checks arguments before they reach the store (contract, section 1, BAD_USER_INPUT). Texts name the argument, never its value.
import { fail } from '@partner-loyalty/runtime';
import { ADDRESS_LENGTH, canonicalEmail, longerThan } from './email.ts';
import type { Address } from './store/store.ts';

/** The longest values, in characters after trimming. */
export const LENGTHS = { email: ADDRESS_LENGTH, externalId: 255, name: 100, id: 128 };

/** The argument, trimmed. Fails with BAD_USER_INPUT where it is empty, over-long, or holds control characters or lone surrogates. */
export function parseText(argument: string, value: string, limit: number): string {
  if (/\p{Cc}/u.test(value)) fail('BAD_USER_INPUT', `${argument} holds control characters`);
  if (/\p{Cs}/u.test(value)) fail('BAD_USER_INPUT', `${argument} holds lone surrogates`);
  const trimmed = value.trim();
  if (trimmed === '') fail('BAD_USER_INPUT', `${argument} is empty`);
  if (longerThan(trimmed, limit))
    fail('BAD_USER_INPUT', `${argument} is longer than ${limit} characters`);
  return trimmed;
}

/** The same for an argument that may be left out; null counts as left out. */
export function parseOptionalText(
  argument: string,
  value: string | null | undefined,
  limit: number,
): string | undefined {
  return value === null || value === undefined ? undefined : parseText(argument, value, limit);
}

/** An address to store. Fails with BAD_USER_INPUT for what is no address. */
export function parseAddress(argument: string, value: string): Address {
  const typed = parseText(argument, value, LENGTHS.email);
  return {
    typed,
    canonical:
      canonicalEmail(typed) ?? fail('BAD_USER_INPUT', `${argument} is not an email address`),
  };
}

/** An address to look up, canonical. What is no address stays as it is: no stored address equals it, so the look-up takes the path of an unknown one. */
export function parseLookupAddress(argument: string, value: string): string {
  const typed = parseText(argument, value, LENGTHS.email);
  return canonicalEmail(typed) ?? typed;
}
