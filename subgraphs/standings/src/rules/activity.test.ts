// Which activities are accepted, and how the faults of the others are told.
import fc from 'fast-check';
import { checkActivity } from './activity.ts';

const NOW = new Date('2026-07-01T12:00:00Z');
const LINE = {
  activityId: 'a1',
  partnerId: 'inn',
  memberId: 'm1',
  points: 120,
  stays: 1,
  occurredAt: '2026-06-30T23:30:00Z',
};

const check = (change: Record<string, unknown> = {}) => checkActivity({ ...LINE, ...change }, NOW);

test('an activity is taken as it is', () => {
  expect(check()).toEqual({ ...LINE, occurredAt: new Date('2026-06-30T23:30:00Z') });
});

test.each([undefined, null])('stays are 0 where they are %p', (stays) => {
  expect(check({ stays })).toMatchObject({ stays: 0 });
});

test('a reversal takes back points and stays', () => {
  expect(check({ points: -120, stays: -1 })).toMatchObject({ points: -120, stays: -1 });
});

test.each(['points', 'stays'])('%s are integers within ±1,000,000,000', (name) => {
  for (const value of [1_000_000_000, -1_000_000_000, 0])
    expect(check({ [name]: value })).toMatchObject({ [name]: value });
  expect(Object.is((check({ [name]: -0 }) as Record<string, unknown>)[name], 0)).toBe(true); // A cast: a fault would fail as well.
  for (const value of [1_000_000_001, -1_000_000_001, 0.5, '5', true, [1], {}, 1e300, Number.NaN]) {
    expect(check({ [name]: value })).toBe(`${name} is not an integer within ±1,000,000,000`);
  }
});

test.each(['activityId', 'partnerId', 'memberId'])(
  '%s is a text of 1 to 128 characters, trimmed',
  (name) => {
    expect(check({ [name]: `  ${'x'.repeat(128)} ` })).toMatchObject({ [name]: 'x'.repeat(128) });
    expect(check({ [name]: '\u{1f600}'.repeat(128) })).toMatchObject({
      [name]: '\u{1f600}'.repeat(128),
    });
    const bad = [
      '',
      '   ',
      'x'.repeat(129),
      '\u{1f600}'.repeat(129),
      'a\u0000b',
      'a\u0085b',
      'a\n',
      '\ud83d',
      5,
      null,
      undefined,
      ['a'],
      { a: 1 },
    ];
    for (const value of bad)
      expect(check({ [name]: value })).toBe(
        `${name} is not a text of 1 to 128 characters without control characters`,
      );
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
  expect(check({ occurredAt: given })).toMatchObject({ occurredAt: new Date(instant) });
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
  '2026-07-02T12:00:00.001Z',
  '9999-12-31T23:59:59Z',
  '1899-12-31T23:59:59Z',
  '0001-01-01T00:00:00Z',
  1_780_000_000_000,
  null,
  undefined,
])('%p is no time of an activity', (occurredAt) => {
  expect(check({ occurredAt })).toMatch(
    /^occurredAt is not an ISO 8601 time with its zone, such as "[^"]+", from 1900 to a day ahead$/,
  );
});

test.each([null, undefined, [], [LINE], 'a1', 5, true])('%p is no activity', (json) => {
  expect(checkActivity(json, NOW)).toBe('it is not a JSON object');
});

test('a misspelt property is a fault, since its value would be lost', () => {
  expect(check({ stay: 2 })).toBe('"stay" is not a property of it');
  expect(
    checkActivity(JSON.parse(`{"__proto__":{"stays":5},${JSON.stringify(LINE).slice(1)}`), NOW),
  ).toBe('"__proto__" is not a property of it');
});

test('every fault is named, in one line', () => {
  expect(checkActivity({ points: 1.5, Points: 3, occurredAt: 'today' }, NOW)).toBe(
    [
      '"Points" is not a property of it',
      'activityId is not a text of 1 to 128 characters without control characters',
      'partnerId is not a text of 1 to 128 characters without control characters',
      'memberId is not a text of 1 to 128 characters without control characters',
      'points is not an integer within ±1,000,000,000',
      'occurredAt is not an ISO 8601 time with its zone, such as "2026-01-31T09:00:00Z", from 1900 to a day ahead',
    ].join('; '),
  );
});

test('whatever JSON it gets, it answers with an activity that it takes again, or with one line', () => {
  const property = fc.constantFrom(...Object.keys(LINE), '__proto__', 'constructor');
  fc.assert(
    fc.property(fc.dictionary(property, fc.jsonValue()), fc.boolean(), (json, whole) => {
      const answer = checkActivity(whole ? { ...LINE, ...json } : json, NOW);
      if (typeof answer === 'string') expect(answer).toMatch(/^[^\n]+$/);
      else
        expect(
          checkActivity({ ...answer, occurredAt: answer.occurredAt.toISOString() }, NOW),
        ).toEqual(answer);
    }),
  );
});
