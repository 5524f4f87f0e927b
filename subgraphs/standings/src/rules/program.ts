// A partner's program: checked out of JSON, and the one that holds where a partner has none (contract, section 4, Standing).

import { isJsonObject } from '@partner-loyalty/runtime';
import { Temporal } from 'temporal-polyfill';
import { INT_MAX } from './int.ts';
import { integerOf, strayFaults, textOf } from './json.ts';

/** A partner's program: its membership year and its tiers. */
export type Program = {
  membershipYear: {
    /** The first day, "MM-DD". */
    start: string;
    /** IANA time zone. */
    timeZone: string;
  };
  /** In ascending order of the points they require. */
  tiers: { name: string; points: number }[];
};

/** The program of a partner that has none of its own. */
export const DEFAULT_PROGRAM: Program = {
  membershipYear: { start: '01-01', timeZone: 'UTC' },
  tiers: [{ name: 'MEMBER', points: 0 }],
};

const LONGEST_NAME = 100;
const MOST_TIERS = 100;

/**
 * The program in a JSON value, its tiers ascending and its time zone spelt as IANA does. Throws an Error whose message, one line, names every fault.
 * The lowest tier may take points: it is also the tier of everything below, since a member always has one.
 */
export function checkProgram(json: unknown): Program {
  const faults: string[] = [];
  const program = programOf(json, faults);
  if (faults.length > 0) throw new Error(`the program is not usable: ${faults.join('; ')}`);
  return program;
}

function programOf(json: unknown, faults: string[]): Program {
  if (!isJsonObject(json)) {
    faults.push('it is not a JSON object');
    return DEFAULT_PROGRAM;
  }
  faults.push(...strayFaults(json, ['membershipYear', 'tiers']));
  return {
    membershipYear: membershipYearOf(json.membershipYear, faults),
    tiers: tiersOf(json.tiers, faults),
  };
}

function membershipYearOf(json: unknown, faults: string[]): Program['membershipYear'] {
  if (!isJsonObject(json)) {
    faults.push('membershipYear is not an object with start and timeZone');
    return DEFAULT_PROGRAM.membershipYear;
  }
  faults.push(...strayFaults(json, ['start', 'timeZone'], 'membershipYear: '));
  if (json.start === '02-29')
    faults.push('membershipYear.start is 02-29, a day that most years do not have');
  else if (!isDayOfEveryYear(json.start))
    faults.push('membershipYear.start is not a day as "MM-DD"');
  const timeZone = timeZoneOf(json.timeZone);
  if (timeZone === undefined)
    faults.push('membershipYear.timeZone is not an IANA time zone such as "Europe/Paris"');
  return { start: String(json.start), timeZone: timeZone ?? '' };
}

function tiersOf(json: unknown, faults: string[]): Program['tiers'] {
  if (!Array.isArray(json) || json.length === 0 || json.length > MOST_TIERS) {
    faults.push(`tiers is not a list of 1 to ${MOST_TIERS} tiers`);
    return [];
  }
  const tiers = json.map((tier: unknown, index) => tierOf(tier, `tiers[${index}]`, faults));
  for (const property of ['name', 'points'] as const) {
    const seen = new Set<unknown>();
    for (const [index, { [property]: value }] of tiers.entries()) {
      if (value === undefined) continue;
      if (seen.has(value))
        faults.push(
          `tiers[${index}].${property} is ${JSON.stringify(value)}, as that of another tier`,
        );
      seen.add(value);
    }
  }
  return tiers
    .map(({ name = '', points = 0 }) => ({ name, points }))
    .sort((one, other) => one.points - other.points);
}

function tierOf(json: unknown, at: string, faults: string[]): Partial<Program['tiers'][number]> {
  if (!isJsonObject(json)) {
    faults.push(`${at} is not an object with name and points`);
    return {};
  }
  faults.push(...strayFaults(json, ['name', 'points'], `${at}: `));
  const name = textOf(json.name, LONGEST_NAME);
  if (name === undefined)
    faults.push(`${at}.name is not a text of 1 to ${LONGEST_NAME} characters`);
  const points = integerOf(json.points, 0, INT_MAX);
  if (points === undefined) faults.push(`${at}.points is not an integer from 0 to ${INT_MAX}`);
  return { ...(name !== undefined && { name }), ...(points !== undefined && { points }) };
}

function isDayOfEveryYear(start: unknown): boolean {
  if (typeof start !== 'string' || !/^\d\d-\d\d$/.test(start)) return false;
  try {
    Temporal.PlainDate.from(`2001-${start}`);
    return true;
  } catch {
    return false;
  }
}

function timeZoneOf(name: unknown): string | undefined {
  // Offsets such as "+05:30" are time zones to Temporal, but no names of IANA's.
  if (typeof name !== 'string' || !/^[A-Za-z]/.test(name)) return undefined;
  try {
    return new Temporal.ZonedDateTime(0n, name).timeZoneId;
  } catch {
    return undefined;
  }
}
