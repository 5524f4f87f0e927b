// When membership years begin, in time zones with unusual clocks.
import fc from 'fast-check';
import { programOf } from '../../test/program.ts';
import type { Program } from './program.ts';
import { yearOf, yearStart } from './year.ts';

const program = (start: string, timeZone: string): Program =>
  programOf({ membershipYear: { start, timeZone }, tiers: [{ name: 'Member', points: 0 }] });

/** Membership years with their first instants. */
const BORDERS: [what: string, start: string, timeZone: string, first: string, year: string][] = [
  ['UTC', '01-01', 'UTC', '2026-01-01T00:00:00Z', '2026-01-01'],
  ['the last day of the year', '12-31', 'UTC', '2026-12-31T00:00:00Z', '2026-12-31'],
  ['Auckland in winter', '07-01', 'Pacific/Auckland', '2026-07-01T00:00:00+12:00', '2026-07-01'],
  [
    'Auckland in summer: the year starts in the UTC year before',
    '01-01',
    'Pacific/Auckland',
    '2027-01-01T00:00:00+13:00',
    '2027-01-01',
  ],
  [
    'the day the clocks change in Auckland',
    '09-27',
    'Pacific/Auckland',
    '2026-09-27T00:00:00+12:00',
    '2026-09-27',
  ],
  [
    'Kiritimati, the furthest east',
    '01-01',
    'Pacific/Kiritimati',
    '2026-01-01T00:00:00+14:00',
    '2026-01-01',
  ],
  [
    'Kolkata, half an hour off the hour',
    '04-01',
    'Asia/Kolkata',
    '2026-04-01T00:00:00+05:30',
    '2026-04-01',
  ],
  [
    'Chatham, three quarters of an hour off the hour',
    '07-01',
    'Pacific/Chatham',
    '2026-07-01T00:00:00+12:45',
    '2026-07-01',
  ],
  [
    'New York before the change',
    '03-08',
    'America/New_York',
    '2026-03-08T00:00:00-05:00',
    '2026-03-08',
  ],
  [
    'New York after the change',
    '03-09',
    'America/New_York',
    '2026-03-09T00:00:00-04:00',
    '2026-03-09',
  ],
  [
    'Pago Pago, the furthest west',
    '12-31',
    'Pacific/Pago_Pago',
    '2026-12-31T00:00:00-11:00',
    '2026-12-31',
  ],
  [
    'São Paulo, whose clocks skipped midnight',
    '11-04',
    'America/Sao_Paulo',
    '2018-11-04T01:00:00-02:00',
    '2018-11-04',
  ],
  [
    'Beirut, whose clocks skip midnight',
    '03-31',
    'Asia/Beirut',
    '2024-03-31T01:00:00+03:00',
    '2024-03-31',
  ],
  [
    'Cairo, whose clocks skip midnight',
    '04-26',
    'Africa/Cairo',
    '2024-04-26T01:00:00+03:00',
    '2024-04-26',
  ],
  [
    'Havana, where midnight comes twice',
    '11-01',
    'America/Havana',
    '2026-11-01T00:00:00-04:00',
    '2026-11-01',
  ],
  [
    'St. John’s, which went back past midnight',
    '11-04',
    'America/St_Johns',
    '2007-11-04T00:00:00-02:30',
    '2007-11-04',
  ],
  [
    'Apia, which skipped the day as a whole',
    '12-30',
    'Pacific/Apia',
    '2011-12-31T00:00:00+14:00',
    '2011-12-30',
  ],
  [
    'a time before time zones',
    '01-01',
    'Europe/Paris',
    '1900-01-01T00:00:00+00:09:21',
    '1900-01-01',
  ],
];

/** Milliseconds of an instant whose offset may have seconds, which Date does not parse. */
function instant(text: string): number {
  const [, local = '', sign, hours, minutes, seconds = '0'] =
    /^(.{19})(?:Z|([+-])(\d\d):(\d\d)(?::(\d\d))?)$/.exec(text) ?? [];
  const offset =
    hours === undefined ? 0 : Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
  return Date.parse(`${local}Z`) - (sign === '-' ? -offset : offset) * 1_000;
}

test.each(BORDERS)('%s', (_, start, timeZone, first, year) => {
  const years = program(start, timeZone);
  const before = `${Number(year.slice(0, 4)) - 1}${year.slice(4)}`;
  expect(yearOf(years, new Date(instant(first)))).toBe(year);
  expect(yearOf(years, new Date(instant(first) - 1))).toBe(before);
  for (const [at, yearsLater] of [
    [instant(first), 0],
    [instant(first) - 1, 1],
  ] as const) {
    expect(yearOf(years, new Date(at), yearsLater)).toBe(year);
    expect(yearStart(years, new Date(at), yearsLater)).toEqual(new Date(instant(first)));
  }
});

test.each([
  ['02-28', '2027-02-28T12:00:00Z', ['2026-02-28', '2027-02-28', '2028-02-28']],
  ['03-01', '2028-02-29T12:00:00Z', ['2026-03-01', '2027-03-01', '2028-03-01']],
  ['03-01', '2028-03-01T00:00:00Z', ['2027-03-01', '2028-03-01', '2029-03-01']],
  ['12-31', '2024-12-30T12:00:00Z', ['2022-12-31', '2023-12-31', '2024-12-31']],
])('of a year that starts on %s, the neighbours at %s start on %j', (start, at, neighbours) => {
  const years = program(start, 'UTC');
  const starts = [-1, 0, 1].map((yearsLater) => yearOf(years, new Date(at), yearsLater));
  expect(starts).toEqual(neighbours);
});

test('the first instants of years follow the clocks of each year', () => {
  // In 2026 clocks change the day after, in 2027 later that day, in 2028 two days before.
  const years = program('03-28', 'Europe/Paris');
  const at = new Date('2027-05-01T00:00:00Z');
  const starts = [-1, 0, 1].map((yearsLater) => yearStart(years, at, yearsLater).toISOString());
  expect(starts).toEqual([
    '2026-03-27T23:00:00.000Z',
    '2027-03-27T23:00:00.000Z',
    '2028-03-27T22:00:00.000Z',
  ]);
});

test('without a program the year is the calendar year in UTC', () => {
  expect(yearOf(undefined, new Date('2026-12-31T23:59:59.999Z'))).toBe('2026-01-01');
  expect(yearOf(undefined, new Date('2027-01-01T00:00:00Z'))).toBe('2027-01-01');
});

const ZONES = [
  'UTC',
  'Pacific/Auckland',
  'Asia/Kolkata',
  'America/New_York',
  'America/Sao_Paulo',
  'Europe/Berlin',
  'Pacific/Kiritimati',
];
const zone = fc.constantFrom(...ZONES);
const start = fc
  .date({ min: new Date('2001-01-01'), max: new Date('2001-12-31'), noInvalidDate: true })
  .map((day) => day.toISOString().slice(5, 10));
const time = fc.date({
  min: new Date('1950-01-01'),
  max: new Date('2090-01-01'),
  noInvalidDate: true,
});

test('a year contains the local dates from its first day to the day before the next one', () => {
  fc.assert(
    fc.property(zone, start, time, (timeZone, first, at) => {
      const local = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(at);
      const calendarYear = Number(local.slice(0, 4)) - (local.slice(5) >= first ? 0 : 1);
      expect(yearOf(program(first, timeZone), at)).toBe(`${calendarYear}-${first}`);
    }),
    { numRuns: 500 },
  );
});

test('the year before ends where a year begins, and the year after begins where it ends', () => {
  fc.assert(
    fc.property(zone, start, time, (timeZone, first, at) => {
      const years = program(first, timeZone);
      const [begin, end] = [yearStart(years, at), yearStart(years, at, 1)];
      expect(begin.getTime()).toBeLessThanOrEqual(at.getTime());
      expect(end.getTime()).toBeGreaterThan(at.getTime());
      expect(yearOf(years, new Date(begin.getTime() - 1))).toBe(yearOf(years, at, -1));
      expect(yearStart(years, new Date(begin.getTime() - 1))).toEqual(yearStart(years, at, -1));
      expect(yearOf(years, end)).toBe(yearOf(years, at, 1));
    }),
  );
});

test('later instants never fall into earlier years, and cached starts change no answer', () => {
  fc.assert(
    fc.property(
      zone,
      start,
      fc.array(time, { minLength: 2, maxLength: 20 }),
      (timeZone, first, times) => {
        const shared = program(first, timeZone);
        const sorted = times.toSorted((one, other) => one.getTime() - other.getTime());
        const years = sorted.map((at) => yearOf(shared, at));
        expect(years).toEqual(years.toSorted());
        expect(times.map((at) => yearOf(shared, at))).toEqual(
          times.map((at) => yearOf(program(first, timeZone), at)),
        );
      },
    ),
  );
});
