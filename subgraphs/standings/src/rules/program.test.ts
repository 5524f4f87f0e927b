// Which programs are accepted, and how the faults of the others are told.
import { checkProgram, DEFAULT_PROGRAM } from './program.ts';

const YEAR = { start: '07-01', timeZone: 'Pacific/Auckland' };
const TIERS = [
  { name: 'Basic', points: 0 },
  { name: 'Plus', points: 2_500 },
];

function faultOf(json: unknown): string {
  try {
    checkProgram(json);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  throw new Error('it was accepted');
}

test('a program is taken as it is', () => {
  expect(checkProgram({ membershipYear: YEAR, tiers: TIERS })).toEqual({
    membershipYear: YEAR,
    tiers: TIERS,
  });
});

test('the default program is one that could be given', () => {
  expect(checkProgram(DEFAULT_PROGRAM)).toEqual(DEFAULT_PROGRAM);
});

test('tiers come ascending, names trimmed, time zones spelt as IANA does', () => {
  const given = {
    membershipYear: { start: '12-31', timeZone: 'asia/kolkata' },
    tiers: [{ name: ' Gold ', points: 9 }, ...TIERS.toReversed()],
  };
  expect(checkProgram(given)).toEqual({
    membershipYear: { start: '12-31', timeZone: 'Asia/Kolkata' },
    tiers: [TIERS[0], { name: 'Gold', points: 9 }, TIERS[1]],
  });
});

test('the lowest tier may take points', () => {
  const tiers = [{ name: 'Founder', points: 100 }];
  expect(checkProgram({ membershipYear: YEAR, tiers }).tiers).toEqual(tiers);
});

test.each(['01-01', '02-28', '12-31', '06-30'])('a year may start on %s', (start) => {
  expect(
    checkProgram({ membershipYear: { ...YEAR, start }, tiers: TIERS }).membershipYear.start,
  ).toBe(start);
});

test.each([
  '02-29',
  '02-30',
  '13-01',
  '00-10',
  '01-00',
  '04-31',
  '1-1',
  '01-01 ',
  '2026-01-01',
  '',
  '01/01',
  101,
  null,
  undefined,
])('a year cannot start on %p', (start) => {
  expect(faultOf({ membershipYear: { ...YEAR, start }, tiers: TIERS })).toMatch(
    /^the program is not usable: membershipYear\.start is [^;]+$/,
  );
});

test.each(['', 'Mars/Olympus', '+05:30', 'UTC+1', 'Z', 'Europe/Paris ', 5, null, undefined])(
  '%p is no time zone',
  (timeZone) => {
    expect(faultOf({ membershipYear: { ...YEAR, timeZone }, tiers: TIERS })).toMatch(
      /^the program is not usable: membershipYear\.timeZone is [^;]+$/,
    );
  },
);

test.each([0.5, -1, '0', null, undefined, 2_147_483_648, Number.NaN])(
  '%p is no number of points',
  (points) => {
    expect(faultOf({ membershipYear: YEAR, tiers: [{ name: 'Basic', points }] })).toMatch(
      /: tiers\[0\]\.points is not [^;]+$/,
    );
  },
);

test.each(['', ' ', 'a\u0000b', 'line\nbreak', '\ud800', 'x'.repeat(101), 5, null, undefined])(
  '%p is no name of a tier',
  (name) => {
    expect(faultOf({ membershipYear: YEAR, tiers: [{ name, points: 0 }] })).toMatch(
      /: tiers\[0\]\.name is not [^;]+$/,
    );
  },
);

test.each([
  [],
  {},
  'Basic',
  null,
  undefined,
  Array.from({ length: 101 }, (_, points) => ({ name: `${points}`, points })),
])('%p is no list of tiers', (tiers) => {
  expect(faultOf({ membershipYear: YEAR, tiers })).toMatch(
    /: tiers is not a list of 1 to 100 tiers$/,
  );
});

test.each([null, undefined, [], 'program', 5])('%p is no program', (json) => {
  expect(faultOf(json)).toBe('the program is not usable: it is not a JSON object');
});

test('every fault is named, in one line', () => {
  const json = {
    membershipYear: { start: '02-29', timezone: 'UTC' },
    tiers: [
      { name: 'Basic', points: 0 },
      { name: 'Basic', points: 0, colour: 'red' },
      { name: '', points: -1 },
      'Plus',
    ],
    tier: [],
  };
  expect(faultOf(json)).toBe(
    'the program is not usable: "tier" is not a property of it; membershipYear: "timezone" is not a property of it; ' +
      'membershipYear.start is 02-29, a day that most years do not have; membershipYear.timeZone is not an IANA time zone such as "Europe/Paris"; ' +
      'tiers[1]: "colour" is not a property of it; tiers[2].name is not a text of 1 to 100 characters; ' +
      'tiers[2].points is not an integer from 0 to 2147483647; tiers[3] is not an object with name and points; ' +
      'tiers[1].name is "Basic", as that of another tier; tiers[1].points is 0, as that of another tier',
  );
});
