// The check of regular expressions finds those that are not linear, and only those.
import { superlinear } from './check.ts';

const check = (text: string) => superlinear({ path: 'x.ts', text });

test.each([
  ['exponential', '/^(a+)+$/', 'exponential'],
  ['quadratic, since two parts share the same text', '/^a*a*$/', 'polynomial'],
  ['quadratic, since it is searched for from every character', '/a+$/', 'polynomial'],
])('%s: %s', (_, expression, degree) => {
  expect(check(`const found = ${expression}.test(text);`)).toEqual([
    expect.stringContaining(`x.ts: ${expression} is not linear: ${degree}`),
  ]);
});

test.each(['/^[a-z]+$/', '/[\\s,]+/', '/^\\d{1,15}$/', '/a+b/y'])('linear: %s', (expression) => {
  expect(check(`const found: boolean = ${expression}.test(text);`)).toEqual([]);
});

test('an expression that is built at run time is refused', () => {
  for (const text of ['new RegExp(pattern)', "RegExp('^a+$')"])
    expect(check(text)).toEqual([expect.stringMatching(/^x\.ts: .* cannot be checked$/)]);
});
