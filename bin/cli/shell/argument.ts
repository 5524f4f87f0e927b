// Commands, and what an operator types: numbers, times, durations and the limits of keys.
import { KEY_SCOPES } from '@partner-loyalty/gateway';
import { createParser, integer, parsedBy } from '@partner-loyalty/runtime/input.ts';
import { cidrRange } from '@partner-loyalty/runtime/settings/schemas.ts';
import { EVENT_TYPES, type EventType, parseInstant as instantIn } from '@partner-loyalty/standings';
import { Command } from 'commander';
import * as z from 'zod';
import { CommandError } from './shell.ts';

/**
 * A parser for commander: checks what was typed by a schema, and throws a CommandError that names
 * the argument but does not repeat it.
 */
export function typed<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
): (given: string) => z.output<Schema> {
  const parse = createParser(schema, name);
  return (given) => {
    const parsed = parse(given);
    if ('fault' in parsed) throw new CommandError(parsed.fault);
    return parsed.value;
  };
}

/** A command whose options can have schemas. */
export class ShellCommand extends Command {
  override createCommand(name?: string): ShellCommand {
    return new ShellCommand(name);
  }

  /** An option whose value the schema parses. */
  value(flags: string, description: string, schema: z.ZodType, unset?: unknown): this {
    return this.option(flags, description, typed(flags.split(' ', 1).join(), schema), unset);
  }
}

export type Add = ReturnType<typeof commandGroup>['add'];

/** A group, and what adds a command to it: `args` are its arguments, with what each one is. */
export function commandGroup(name: string, description: string) {
  const group = new ShellCommand(name).description(description);
  function add(name: string, description: string, args: Readonly<Record<string, string>> = {}) {
    const command = group.command(name).description(description);
    for (const [argument, meaning] of Object.entries(args)) command.argument(argument, meaning);
    return command;
  }
  return { group, add };
}

export const PARTNER = { '<partner>': "the partner's ID" };
export const MEMBER = { '<memberid>': "the member's ID" };

/** An integer in digits, between two limits, both included. */
export function digits(least: number, most: number) {
  return z
    .string()
    .transform((given) => (/^\d+$/.test(given) ? Number(given) : given))
    .pipe(integer(least, most));
}

/** The instant, cut to milliseconds; undefined if the text is none. */
export function parseInstant(text: string): Date | undefined {
  // The other parser takes a space instead of the T, as RFC 3339 does and ISO 8601 does not.
  return text.includes(' ') ? undefined : instantIn(text);
}

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const MAX_DURATION_MS = 36_500 * UNITS.d;

/** The milliseconds of a duration such as 500ms, 2s, 15m, 12h or 90d; undefined for other texts. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,9})(ms|[smhd])$/.exec(text) ?? [];
  if (count === undefined) return undefined;
  // Cast: the pattern allows only these units.
  const ms = Number(count) * UNITS[unit as keyof typeof UNITS];
  return ms <= MAX_DURATION_MS ? ms : undefined;
}

/** Each request from a key with a list compares its address with all of them. */
const MAX_RANGES = 100;

export const scopes = items(z.enum(KEY_SCOPES), `must be a list of ${KEY_SCOPES.join(', ')}`)
  .refine((list) => list.length > 0, 'must name a scope')
  .transform((list) => KEY_SCOPES.filter((scope) => list.includes(scope)));

// Cast: the names of the table are all there are.
const TYPES = Object.keys(EVENT_TYPES) as EventType[];
export const eventTypes = items(z.enum(TYPES), `must be a list of ${TYPES.join(', ')}`)
  .refine((list) => list.length > 0, 'must name a type')
  .transform((list) => TYPES.filter((type) => list.includes(type)));

export const addresses = items(
  cidrRange,
  'must be a list of addresses and ranges, such as 192.0.2.7,10.0.0.0/8',
)
  .refine((list) => list.length > 0, 'must name an address or a range')
  .refine((list) => list.length <= MAX_RANGES, `must have at most ${MAX_RANGES} ranges`);

export const shortMs = parsedBy(parseDuration, 'must be a duration such as 500ms or 2s');

export const durationMs = parsedBy(parseDuration, 'must be a duration such as 2s, 15m, 12h or 90d');

/** A duration from now, or an instant in the future. */
export const expiry = instantAt(1).refine(
  (instant) => instant.getTime() > Date.now(),
  'must be in the future',
);

/** A duration before now, or an instant. */
export const since = instantAt(-1);

function instantAt(direction: 1 | -1) {
  return parsedBy((given) => {
    const ms = parseDuration(given);
    return ms === undefined ? parseInstant(given) : new Date(Date.now() + direction * ms);
  }, 'must be a duration such as 90d, or an ISO 8601 time with its zone, such as 2030-01-31T12:00:00Z');
}

/** A list with commas; `fault` says what each item must be. */
function items<T>(item: z.ZodType<T, string>, fault: string) {
  const list = z.array(item);
  return parsedBy((given) => {
    const texts = given.split(',').map((text) => text.trim());
    return list.safeParse(texts.filter((text) => text !== '')).data;
  }, fault);
}
