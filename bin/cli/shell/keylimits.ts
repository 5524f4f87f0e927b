// Parses the options that limit a key: its scopes, its addresses and when it ends.
import { KEY_SCOPES } from '@partner-loyalty/gateway';
import { cidrRange } from '@partner-loyalty/runtime/settings/schemas.ts';
import * as z from 'zod';
import { parseDuration, parseInstant } from './instant.ts';

/** Each request from a key with a list compares its address with all of them. */
const MAX_RANGES = 100;

/** What a key may be used for. */
export const scopes = items(z.enum(KEY_SCOPES), `must be a list of ${KEY_SCOPES.join(', ')}`)
  .refine((list) => list.length > 0, 'must name a scope')
  .transform((list) => KEY_SCOPES.filter((scope) => list.includes(scope)));

/** The addresses that may use a key. */
export const addresses = items(
  cidrRange,
  'must be a list of addresses and ranges, such as 192.0.2.7,10.0.0.0/8',
)
  .refine((list) => list.length > 0, 'must name an address or a range')
  .refine((list) => list.length <= MAX_RANGES, `must have at most ${MAX_RANGES} ranges`);

/** A duration in milliseconds. */
export const durationMs = z.string().transform((given, context) => {
  const ms = parseDuration(given);
  if (ms !== undefined) return ms;
  context.addIssue('must be a duration such as 2s, 15m, 12h or 90d');
  return z.NEVER;
});

/** A duration from now, or an instant in the future. */
export const expiry = z
  .string()
  .transform((given, context) => {
    const durationMs = parseDuration(given);
    const instant =
      durationMs === undefined ? parseInstant(given) : new Date(Date.now() + durationMs);
    if (instant !== undefined) return instant;
    context.addIssue(
      'must be a duration such as 90d, or an ISO 8601 time with its zone, such as 2030-01-31T12:00:00Z',
    );
    return z.NEVER;
  })
  .refine((instant) => instant.getTime() > Date.now(), 'must be in the future');

/** A list with commas; `fault` says what each item must be. */
function items<T>(item: z.ZodType<T, string>, fault: string) {
  const list = z.array(item);
  return z.string().transform((given, context) => {
    const texts = given.split(',').map((text) => text.trim());
    const parsed = list.safeParse(texts.filter((text) => text !== ''));
    if (parsed.success) return parsed.data;
    context.addIssue(fault);
    return z.NEVER;
  });
}
