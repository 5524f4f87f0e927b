// Which programs are accepted, and the faults of the others.
import { DEFAULT_PROGRAM, parseProgram } from './program.ts';

const YEAR = { start: '07-01', timeZone: 'Pacific/Auckland' };
const TIERS = [
  { name: 'Basic', points: 0 },
  { name: 'Plus', points: 2_500 },
];

function faultOf(json: unknown): string {
  const parsed = parseProgram(json);
  if ('value' in parsed) throw new Error('the program was accepted');
  return parsed.fault;
}

test('a program is accepted as it is', () => {
  const program = { membershipYear: YEAR, tiers: TIERS };
  expect(parseProgram(program)).toEqual({ value: program });
});

test.each(['year', 'nextYear'] as const)('tiers may be valid for %s', (tierValidity) => {
  const program = { membershipYear: YEAR, tiers: TIERS, tierValidity };
  expect(parseProgram(program)).toEqual({ value: program });
});

test.each(['NEXT_YEAR', '', 2, null])('tiers are not valid for %j', (tierValidity) => {
  expect(faultOf({ membershipYear: YEAR, tiers: TIERS, tierValidity })).toBe(
    'tierValidity must be "year" or "nextYear"',
  );
});

test('the default program would be accepted', () => {
  expect(parseProgram(DEFAULT_PROGRAM)).toEqual({ value: DEFAULT_PROGRAM });
});

test('tiers are sorted by points, names trimmed, time zones spelt as IANA spells them', () => {
  const given = {
    membershipYear: { start: '12-31', timeZone: 'asia/kolkata' },
    tiers: [{ name: ' Gold ', points: 9 }, ...TIERS.toReversed()],
  };
  expect(parseProgram(given)).toEqual({
    value: {
      membershipYear: { start: '12-31', timeZone: 'Asia/Kolkata' },
      tiers: [TIERS[0], { name: 'Gold', points: 9 }, TIERS[1]],
    },
  });
});

test('the lowest tier may require points', () => {
  const tiers = [{ name: 'Founder', points: 100 }];
  expect(parseProgram({ membershipYear: YEAR, tiers })).toMatchObject({ value: { tiers } });
});

test.each(['01-01', '02-28', '12-31', '06-30'])('a year may start on %s', (start) => {
  const program = { membershipYear: { ...YEAR, start }, tiers: TIERS };
  expect(parseProgram(program)).toMatchObject({ value: { membershipYear: { start } } });
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
    /^membershipYear\.start (must|is missing)[^;]*$/,
  );
});

test.each(['', 'Mars/Olympus', '+05:30', 'UTC+1', 'Z', 'Europe/Paris ', 5, null, undefined])(
  '%p is no time zone',
  (timeZone) => {
    expect(faultOf({ membershipYear: { ...YEAR, timeZone }, tiers: TIERS })).toMatch(
      /^membershipYear\.timeZone (must|is missing)[^;]*$/,
    );
  },
);

test.each([0.5, -1, '0', null, undefined, 2_147_483_648, Number.NaN])(
  '%p is no number of points',
  (points) => {
    expect(faultOf({ membershipYear: YEAR, tiers: [{ name: 'Basic', points }] })).toMatch(
      /^tiers\[0\]\.points (must|is missing)[^;]*$/,
    );
  },
);

test.each(['', ' ', 'a\u0000b', 'line\nbreak', '\ud800', 'x'.repeat(101), 5, null, undefined])(
  '%p is no name of a tier',
  (name) => {
    expect(faultOf({ membershipYear: YEAR, tiers: [{ name, points: 0 }] })).toMatch(
      /^tiers\[0\]\.name (must|is missing)[^;]*$/,
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
    /^tiers must be a list of 1 to 100 tiers$/,
  );
});

test.each([null, undefined, [], 'program', 5])('%p is no program', (json) => {
  expect(faultOf(json)).toBe(
    json === null || json === undefined ? 'it is missing' : 'it must be an object',
  );
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
  expect(faultOf(json).split('; ')).toEqual([
    'membershipYear.start must not be 02-29, a day that most years do not have',
    'membershipYear.timeZone is missing',
    'unknown property "timezone" in membershipYear',
    'unknown property "colour" in tiers[1]',
    'tiers[2].name must not be empty',
    'tiers[2].points must be an integer from 0 to 2,147,483,647',
    'tiers[3] must be an object',
    'tiers[1].name must not be that of another tier',
    'tiers[1].points must not be that of another tier',
    'unknown property "tier"',
  ]);
});
