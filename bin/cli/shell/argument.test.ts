// Instants, and texts that resemble them.
import { parseDuration, parseInstant } from './argument.ts';

test.each([
  ['2030-01-31T12:00:00Z', '2030-01-31T12:00:00.000Z'],
  ['2030-01-31T12:00Z', '2030-01-31T12:00:00.000Z'],
  ['2030-01-31T12:00:00.5+02:00', '2030-01-31T10:00:00.500Z'],
  ['2030-01-31T23:59:59,999999-00:30', '2030-02-01T00:29:59.999Z'],
  ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
])('%s is an instant', (text, instant) => {
  expect(parseInstant(text)?.toISOString()).toBe(instant);
});

test.each([
  '',
  '2030-01-31',
  '2030-01-31T12:00:00',
  '2030-01-31 12:00:00Z',
  '2030-02-30T12:00:00Z',
  '2027-02-29T12:00:00Z',
  '2030-13-01T12:00:00Z',
  '2030-01-31T24:00:00Z',
  '2030-01-31T12:60:00Z',
  '2030-01-31T12:00:00+24:00',
  '1893499200',
  'tomorrow',
  '2030-01-31T12:00:00Z\n',
])('%j is no instant', (text) => {
  expect(parseInstant(text)).toBeUndefined();
});

test.each([
  ['500ms', 500],
  ['2s', 2_000],
  ['15m', 900_000],
  ['12h', 43_200_000],
  ['90d', 7_776_000_000],
])('the duration %s', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', '0d', '90', 'd', '1.5h', '-1d', '90 d', '90D', '01d', '9999999999d', '1w', 'P90D'])(
  'no duration: %j',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);
