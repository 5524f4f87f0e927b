// A partner's program: its membership year and its tiers (docs/callers/standing.md, Standing).
import {
  createParser,
  integer,
  type Parsed,
  parsedBy,
  text,
} from '@partner-loyalty/runtime/input.ts';
import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import { INT_MAX } from './standing.ts';

export type Program = {
  membershipYear: {
    /** The first day, "MM-DD". */
    start: string;
    /** IANA time zone. */
    timeZone: string;
  };
  /** In ascending order of the points they require. */
  tiers: { name: string; points: number }[];
  /** For which membership years a tier holds once its points are earned; undefined is `year`. */
  tierValidity?: TierValidity | undefined;
};

/** To the end of the year in which it was earned, or of the one after. */
export type TierValidity = 'year' | 'nextYear';

/** The program of a partner that has none of its own. */
export const DEFAULT_PROGRAM: Program = {
  membershipYear: { start: '01-01', timeZone: 'UTC' },
  tiers: [{ name: 'MEMBER', points: 0 }],
};

/** Whether two programs, as they were parsed, say the same. Without one, the default applies. */
export function isSameProgram(one: Program | undefined, other: Program): boolean {
  return JSON.stringify(one ?? DEFAULT_PROGRAM) === JSON.stringify(other);
}

const MAX_NAME = 100;
const MAX_TIERS = 100;

const start = z
  .string()
  .refine((day) => day !== '02-29', {
    error: 'must not be 02-29, a day that most years do not have',
    abort: true,
  })
  .refine(isDay, 'must be a day as "MM-DD"');

const timeZone = parsedBy(ianaName, 'must be an IANA time zone such as "Europe/Paris"');

const tier = z.strictObject({ name: text(MAX_NAME), points: integer(0, INT_MAX) });
type Tier = z.output<typeof tier>;

const LIST_OF_TIERS = `must be a list of 1 to ${MAX_TIERS} tiers`;
const tiers = z
  .array(tier, LIST_OF_TIERS)
  .min(1, LIST_OF_TIERS)
  .max(MAX_TIERS, LIST_OF_TIERS)
  .superRefine(refuseDuplicates, { when: ({ value }) => Array.isArray(value) })
  .transform((parsed) => parsed.toSorted((one, other) => one.points - other.points));

const tierValidity = z.enum(['year', 'nextYear'], 'must be "year" or "nextYear"').optional();

/**
 * Parses a program from JSON. Tiers come out in ascending order, the time zone in IANA's spelling.
 * The lowest tier may require points; it also applies below them, since a member always has a tier.
 */
export const parseProgram: (json: unknown) => Parsed<Program> = createParser(
  z.strictObject({ membershipYear: z.strictObject({ start, timeZone }), tiers, tierValidity }),
);

/** Adds an issue for each name and each number of points that an earlier tier has as well. */
function refuseDuplicates(
  parsed: readonly Partial<Tier>[],
  context: z.core.$RefinementCtx<Tier[]>,
): void {
  for (const property of ['name', 'points'] as const) {
    const seen = new Set<unknown>();
    for (const [index, { [property]: value }] of parsed.entries()) {
      if (value === undefined) continue;
      if (seen.has(value))
        context.addIssue({
          code: 'custom',
          path: [index, property],
          message: 'must not be that of another tier',
        });
      seen.add(value);
    }
  }
}

function isDay(day: string): boolean {
  if (!/^\d\d-\d\d$/.test(day)) return false;
  try {
    Temporal.PlainDate.from(`2001-${day}`);
    return true;
  } catch {
    return false;
  }
}

function ianaName(name: string): string | undefined {
  // Temporal also accepts offsets such as "+05:30", which are not in IANA's database.
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    return new Temporal.ZonedDateTime(0n, name).timeZoneId;
  } catch {
    return undefined;
  }
}
