// Which activities are accepted, and the faults of the others.
import fc from 'fast-check';
import { createActivityParser } from './activity.ts';

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

test('a reversal has negative points and stays', () => {
  const reversal = { points: -120, stays: -1 };
  expect(change(reversal)).toMatchObject({ value: reversal });
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

test.each<[unknown, string]>([
  [1_780_000_000_000, 'must be a string'],
  [null, 'is missing'],
  [undefined, 'is missing'],
])('the time %p %s', (occurredAt, fault) => {
  expect(change({ occurredAt })).toEqual({ fault: `occurredAt ${fault}` });
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
