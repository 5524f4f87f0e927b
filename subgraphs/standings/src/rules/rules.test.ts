// The rules of standings.

import fc from 'fast-check';
import { createActivityParser } from './activity.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { mergeSources, type Source } from './eventorder.ts';
import { DEFAULT_PROGRAM, type Program, parseProgram, type TierValidity } from './program.ts';
import { INT_MAX, INT_MIN } from './standing.ts';
import { heldTier, tierOf } from './tiers.ts';
import { yearOf, yearStart } from './year.ts';

/** Parses a program. Throws an Error with its faults. */
function programOf(json: Program): Program {
  const parsed = parseProgram(json);
  if ('fault' in parsed) throw new Error(parsed.fault);
  return parsed.value;
}

// Which activities are accepted, and the faults of the others.

const NOW = new Date('2026-07-01T12:00:00Z');
const LINE = {
  activityId: 'a1',
  partnerId: 'inn',
  memberId: 'm1',
  points: 120,
  stays: 1,
  occurredAt: '2026-06-30T23:30:00Z',
};
const ACTIVITY = { ...LINE, occurredAt: new Date(LINE.occurredAt) };

const parse = createActivityParser(() => NOW);
const change = (changed: Record<string, unknown>) => parse({ ...LINE, ...changed });

test('an activity is accepted as it is', () => {
  expect(parse(LINE)).toEqual({ value: { ...LINE, occurredAt: new Date('2026-06-30T23:30:00Z') } });
});

test.each([undefined, null])('stays are 0 if they are %p', (stays) => {
  expect(change({ stays })).toMatchObject({ value: { stays: 0 } });
});

test.each(['points', 'stays'])('%s are integers within ±1,000,000,000', (name) => {
  for (const value of [1_000_000_000, -1_000_000_000, 0])
    expect(change({ [name]: value })).toMatchObject({ value: { [name]: value } });
  expect(change({ [name]: -0 })).toEqual({ value: { ...ACTIVITY, [name]: 0 } });
  for (const value of [1_000_000_001, -1_000_000_001, 0.5, '5', true, [1], {}, 1e300, Number.NaN]) {
    expect(change({ [name]: value })).toEqual({
      fault: `${name} must be an integer from -1,000,000,000 to 1,000,000,000`,
    });
  }
});

test.each(['activityId', 'partnerId', 'memberId'])(
  '%s is a text of 1 to 128 characters, trimmed',
  (name) => {
    for (const id of ['x'.repeat(128), '\u{1f600}'.repeat(128)])
      expect(change({ [name]: `  ${id} ` })).toEqual({ value: { ...ACTIVITY, [name]: id } });
    const bad: [unknown, string][] = [
      ['', 'must not be empty'],
      ['   ', 'must not be empty'],
      ['x'.repeat(129), 'must have at most 128 characters'],
      ['\u{1f600}'.repeat(129), 'must have at most 128 characters'],
      ['a\u0000b', 'must not contain control characters'],
      ['a\u0085b', 'must not contain control characters'],
      ['a\n', 'must not contain control characters'],
      ['\ud83d', 'must not contain lone surrogates'],
      [5, 'must be a string'],
      [null, 'is missing'],
      [undefined, 'is missing'],
      [['a'], 'must be a string'],
      [{ a: 1 }, 'must be a string'],
    ];
    for (const [id, fault] of bad)
      expect(change({ [name]: id })).toEqual({ fault: `${name} ${fault}` });
  },
);

test.each([
  ['2026-06-30T23:30:00.123456789Z', '2026-06-30T23:30:00.123Z'],
  ['2026-06-30T23:30Z', '2026-06-30T23:30:00.000Z'],
  ['2026-06-30T23:30:00+05:30', '2026-06-30T18:00:00.000Z'],
  ['2026-07-01T05:00:00+05:30[Asia/Kolkata]', '2026-06-30T23:30:00.000Z'],
  ['2024-02-29T00:00:00-11:00', '2024-02-29T11:00:00.000Z'],
  ['20260630T233000Z', '2026-06-30T23:30:00.000Z'],
  ['2026-07-02T12:00:00Z', '2026-07-02T12:00:00.000Z'],
  ['1900-01-01T00:00:00Z', '1900-01-01T00:00:00.000Z'],
])('%s is %s', (given, instant) => {
  expect(change({ occurredAt: given })).toMatchObject({ value: { occurredAt: new Date(instant) } });
});

test.each([
  '2026-06-30T23:30:00',
  '2026-06-30',
  '2026-02-29T00:00:00Z',
  '2026-06-31T00:00:00Z',
  '2026-06-30T25:00:00Z',
  '2026-06-30T23:60:00Z',
  '30.06.2026 23:30',
  'yesterday',
  '',
])('%p is no time', (occurredAt) => {
  expect(change({ occurredAt })).toEqual({
    fault: 'occurredAt must be an ISO 8601 time with its zone, such as "2026-01-31T09:00:00Z"',
  });
});

test.each([
  '2026-07-02T12:00:00.001Z',
  '9999-12-31T23:59:59Z',
  '1899-12-31T23:59:59Z',
  '0001-01-01T00:00:00Z',
])('%p is too late or too early', (occurredAt) => {
  expect(change({ occurredAt })).toEqual({
    fault: 'occurredAt must be between 1900 and one day from now',
  });
});

test.each([null, undefined, [], [LINE], 'a1', 5, true])('%p is no activity', (json) => {
  expect(parse(json)).toEqual({
    fault: json === null || json === undefined ? 'it is missing' : 'it must be an object',
  });
});

test('a misspelt property is a fault, since its value would be lost', () => {
  expect(change({ stay: 2 })).toEqual({ fault: 'unknown property "stay"' });
  const json = `{"__proto__":{"stays":5},${JSON.stringify(LINE).slice(1)}`;
  expect(parse(JSON.parse(json))).toEqual({ fault: 'unknown property "__proto__"' });
});

test('every fault is named, in one line', () => {
  expect(parse({ points: 1.5, Points: 3, occurredAt: 'today' })).toEqual({
    fault: [
      'activityId is missing',
      'partnerId is missing',
      'memberId is missing',
      'points must be an integer from -1,000,000,000 to 1,000,000,000',
      'occurredAt must be an ISO 8601 time with its zone, such as "2026-01-31T09:00:00Z"',
      'unknown property "Points"',
    ].join('; '),
  });
});

test('any JSON gives either one line or an activity that is accepted again', () => {
  const property = fc.constantFrom(...Object.keys(LINE), '__proto__', 'constructor');
  fc.assert(
    fc.property(fc.dictionary(property, fc.jsonValue()), fc.boolean(), (json, whole) => {
      const parsed = parse(whole ? { ...LINE, ...json } : json);
      if ('fault' in parsed) expect(parsed.fault).toMatch(/^[^\n]+$/);
      else {
        const occurredAt = parsed.value.occurredAt.toISOString();
        expect(parse({ ...parsed.value, occurredAt })).toEqual(parsed);
      }
    }),
  );
});

// Cursors: only good for their owner, and whatever else comes as one.

const PLACE = { occurredAtMs: 1_767_225_600_000, partnerId: 'inn', activityId: 'a-1' };
const OWNER = ['partner', 'inn', 'ada'];

test('a cursor leads back to its place, whatever the IDs are', () => {
  const id = fc.string({ minLength: 1, maxLength: 128, unit: 'grapheme' });
  fc.assert(
    fc.property(
      fc.maxSafeInteger(),
      id,
      id,
      id,
      (occurredAtMs, partnerId, activityId, memberId) => {
        const place = { occurredAtMs, partnerId, activityId };
        const owner = ['partner', partnerId, memberId];
        expect(decodeCursor(encodeCursor(place, owner), owner)).toEqual(place);
      },
    ),
  );
});

test('a cursor is good for no other partner, member or kind of caller', () => {
  const cursor = encodeCursor(PLACE, OWNER);
  for (const other of [
    ['partner', 'spa', 'ada'],
    ['partner', 'inn', 'bob'],
    ['member', 'inn', 'ada'],
    ['member', '', 'ada'],
    ['partner', 'innada', ''],
  ])
    expect(decodeCursor(cursor, other)).toBeUndefined();
});

test('whatever is changed, cut or made up is no cursor', () => {
  const cursor = encodeCursor(PLACE, OWNER);
  for (let at = 0; at < cursor.length; at += 1) {
    const changed = cursor[at] === 'A' ? 'B' : 'A';
    expect(
      decodeCursor(cursor.slice(0, at) + changed + cursor.slice(at + 1), OWNER),
    ).toBeUndefined();
    expect(decodeCursor(cursor.slice(0, at), OWNER)).toBeUndefined();
  }
  for (const text of [`${cursor}=`, ` ${cursor}`, `${cursor}!`, '{}', 'W10', 'x'.repeat(60_000)])
    expect(decodeCursor(text, OWNER)).toBeUndefined();
});

// The order of events from two outboxes.

type Timed = { occurredAt: number };
const source = (times: number[], until = Number.POSITIVE_INFINITY): Source<Timed> => ({
  events: times.map((occurredAt) => ({ occurredAt })),
  until,
});
/** The times in their order, and how many of each outbox were taken. */
const merge = (members: Source<Timed>, own: Source<Timed>, ownUntil = Number.POSITIVE_INFINITY) => {
  const merged = mergeSources(members, own, ownUntil);
  return [merged.events.map(({ occurredAt }) => occurredAt), merged.members, merged.own];
};

test('the earlier event comes first, and each outbox keeps its order', () => {
  expect(merge(source([1, 5, 3]), source([2, 4]))).toEqual([[1, 2, 4, 5, 3], 3, 2]);
});

test('an event waits while the other outbox may still have an earlier one', () => {
  expect(merge(source([1, 5], 5), source([2, 6]))).toEqual([[1, 2, 5], 2, 1]);
  expect(merge(source([1, 9]), source([2, 3], 3))).toEqual([[1, 2, 3], 1, 2]);
});

test('an own event that was made after members were asked waits', () => {
  expect(merge(source([1, 9]), source([2, 8]), 5)).toEqual([[1, 2, 9], 2, 1]);
});

test('whatever the clocks say, the outbox that ends first gives at least one event', () => {
  expect(merge(source([7, 8], 3), source([5]))).toEqual([[5, 7], 1, 1]);
});

// Which programs are accepted, and the faults of the others.

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

const withYear = (change: object) => ({ membershipYear: { ...YEAR, ...change }, tiers: TIERS });
const withTier = (change: object) => ({
  membershipYear: YEAR,
  tiers: [{ name: 'Basic', points: 0, ...change }],
});
test.each<[path: string, json: (value: unknown) => object, bad: unknown[]]>([
  [
    'membershipYear.start',
    (start) => withYear({ start }),
    [
      '02-29',
      '04-31',
      '13-01',
      '00-10',
      '01-00',
      '1-1',
      '01-01 ',
      '2026-01-01',
      '',
      101,
      undefined,
    ],
  ],
  [
    'membershipYear.timeZone',
    (timeZone) => withYear({ timeZone }),
    ['', 'Mars/Olympus', '+05:30', 'UTC+1', 'Z', 'Europe/Paris ', 5, null, undefined],
  ],
  [
    'tiers[0].points',
    (points) => withTier({ points }),
    [0.5, -1, '0', null, undefined, 2_147_483_648, Number.NaN],
  ],
  [
    'tiers[0].name',
    (name) => withTier({ name }),
    ['', ' ', 'a\u0000b', 'line\nbreak', '\ud800', 'x'.repeat(101), 5, null, undefined],
  ],
])('%s is checked', (path, json, bad) => {
  for (const value of bad) {
    const fault = faultOf(json(value));
    expect(fault).toMatch(/^\S+ (must|is missing)[^;]*$/);
    expect(fault.split(' ')[0]).toBe(path);
  }
});

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

// The tier that points reach, and the one that a member holds.
describe('tiers', () => {
  const program = (...tiers: [name: string, points: number][]) =>
    programOf({
      membershipYear: { start: '01-01', timeZone: 'UTC' },
      tiers: tiers.map(([name, points]) => ({ name, points })),
    });

  test('without a program there is one tier', () => {
    for (const points of [0, INT_MAX, -5]) expect(tierOf(undefined, points)).toBe('MEMBER');
  });

  test('more points never make a lower tier, in whatever order the tiers are written', () => {
    const int = fc.integer({ min: INT_MIN, max: INT_MAX });
    const thresholds = fc.uniqueArray(fc.integer({ min: 0, max: INT_MAX }), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(thresholds, int, int, (required, one, other) => {
        const tiers = required.map((points): [string, number] => [`tier ${points}`, points]);
        const rank = (points: number) => Number(tierOf(program(...tiers), points).slice(5));
        expect(rank(Math.max(one, other))).toBeGreaterThanOrEqual(rank(Math.min(one, other)));
        expect(rank(one)).toBe(
          Math.max(Math.min(...required), ...required.filter((points) => points <= one)),
        );
        expect(tierOf(program(...tiers.toReversed()), one)).toBe(tierOf(program(...tiers), one));
      }),
    );
  });

  const LADDER = program(['Blue', 0], ['Silver', 1_000], ['Gold', 5_000]);
  const ladder = (tierValidity: TierValidity): Program => ({ ...LADDER, tierValidity });

  test.each<[number, string | undefined, number | undefined]>([
    [0, 'Silver', 1_000],
    [999, 'Silver', 1],
    [1_000, 'Gold', 4_000],
    [5_000, undefined, undefined],
    [-1, 'Silver', 1_001],
    [INT_MIN, 'Silver', INT_MAX],
  ])('at %d points the next tier is %s, %s points away', (points, name, missing) => {
    const { next } = heldTier(LADDER, points, undefined);
    expect(next).toEqual(name === undefined ? undefined : { name, missing });
  });

  test('below the points of the lowest tier, the next one is the second', () => {
    expect(heldTier(program(['Founder', 100], ['Patron', 200]), 10, undefined).next).toEqual({
      name: 'Patron',
      missing: 190,
    });
    expect(heldTier(undefined, 10, undefined).next).toBeUndefined();
  });

  const THIS_YEAR = { earnedIn: 0, validUntil: 2 };
  const LAST_YEAR = { earnedIn: -1, validUntil: 1 };
  test.each<[what: string, points: number, before: number | undefined, held: object]>([
    ['only last year’s points reach', 0, 5_200, { name: 'Gold', ...LAST_YEAR }],
    [
      'both years’ points reach: it is of the later one',
      1_000,
      4_999,
      { name: 'Silver', ...THIS_YEAR },
    ],
  ])('with nextYear, the tier held is the one that %s', (_, points, before, held) => {
    expect(heldTier(ladder('nextYear'), points, before)).toMatchObject(held);
  });

  test('with nextYear, the next tier is above the one held, its gap by this year’s points', () => {
    const next = (points: number, before: number) =>
      heldTier(ladder('nextYear'), points, before).next;
    expect(next(200, 1_000)).toEqual({ name: 'Gold', missing: 4_800 });
    expect(next(-50, 1_000)).toEqual({ name: 'Gold', missing: 5_050 });
    expect(next(200, 5_000)).toBeUndefined();
    expect(next(200, 0)).toEqual({ name: 'Silver', missing: 800 });
  });

  test('with year, and in a program that says nothing, last year’s points do not count', () => {
    for (const one of [LADDER, ladder('year'), undefined])
      expect(heldTier(one, 200, INT_MAX)).toEqual({
        ...heldTier(one, 200, undefined),
        earnedIn: 0,
        validUntil: 1,
      });
  });

  test('with nextYear, a tier is never lower than without it, nor than last year’s', () => {
    const points = fc.integer({ min: -9, max: 6_000 });
    const rank = (name: string) => LADDER.tiers.findIndex((tier) => tier.name === name);
    fc.assert(
      fc.property(points, points, (now, before) => {
        const { name, earnedIn } = heldTier(ladder('nextYear'), now, before);
        const [reached, reachedBefore] = [now, before].map((sum) => rank(tierOf(LADDER, sum)));
        expect(rank(name)).toBe(Math.max(reached ?? 0, reachedBefore ?? 0));
        expect(tierOf(LADDER, earnedIn === 0 ? now : before)).toBe(name);
      }),
    );
  });
});

// When membership years begin, in time zones with unusual clocks.
describe('year', () => {
  const program = (start: string, timeZone: string): Program =>
    programOf({ membershipYear: { start, timeZone }, tiers: [{ name: 'Member', points: 0 }] });

  /** Membership years with their first instants, where the day begins in an unusual way. */
  const BORDERS: [why: string, start: string, timeZone: string, first: string, year: string][] = [
    // At midnight: clocks skip it, it comes twice, they go back past it, and the day is skipped.
    ['skipped', '11-04', 'America/Sao_Paulo', '2018-11-04T01:00:00-02:00', '2018-11-04'],
    ['twice', '11-01', 'America/Havana', '2026-11-01T00:00:00-04:00', '2026-11-01'],
    ['back', '11-04', 'America/St_Johns', '2007-11-04T00:00:00-02:30', '2007-11-04'],
    ['no day', '12-30', 'Pacific/Apia', '2011-12-31T00:00:00+14:00', '2011-12-30'],
    ['before zones', '01-01', 'Europe/Paris', '1900-01-01T00:00:00+00:09:21', '1900-01-01'],
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
    'Pacific/Pago_Pago',
    'Pacific/Chatham',
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

  test('cached starts change no answer', () => {
    fc.assert(
      fc.property(
        zone,
        start,
        fc.array(time, { minLength: 2, maxLength: 20 }),
        (timeZone, first, times) => {
          const shared = program(first, timeZone);
          expect(times.map((at) => yearOf(shared, at))).toEqual(
            times.map((at) => yearOf(program(first, timeZone), at)),
          );
        },
      ),
    );
  });
});
