// JSON objects, and which are refused.
import fc from 'fast-check';
import { anyText } from '../../../test/support/text.ts';
import { parseStrictJson } from './strictjson.ts';

test('an object is parsed as by JSON.parse, even if nested objects share property names', () => {
  const object = fc.dictionary(anyText(), fc.jsonValue(), {
    noNullPrototype: true,
  });
  fc.assert(
    fc.property(object, fc.constantFrom(undefined, 1), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(parseStrictJson(text)).toEqual({ value: JSON.parse(text) });
    }),
  );
});

test.each([
  ['{"a":1,"a":1}', '"a"'],
  ['{"a":{"b":1, "c":[{"d":1,\t"d" : 2}]}}', '"d"'],
  ['{"a":1,"\\u0061":2}', '"a"'],
  ['{"":1,"":2}', '""'],
  ['{"\\"":":","\\"":2}', '"\\""'],
  ['{"__proto__":1,"__proto__":2}', '"__proto__"'],
])('a repeated property is refused: %s', (text, name) => {
  expect(parseStrictJson(text)).toEqual({ fault: `property ${name} is repeated` });
});

test('strings that look like properties are not taken for any', () => {
  const text = '{"a":"{\\"a\\":1}","b":["a","a",":"],"c":{"a":"\\\\"},"d":{"a":"b"}}';
  expect(parseStrictJson(text)).toEqual({ value: JSON.parse(text) });
});

test.each(['', '{', '{"a":}', "{'a':1}", '{"a":1}{"a":1}', '{"a":"\t"}', 'NaN'])(
  'anything but JSON is refused without repeating it: %j',
  (text) => {
    expect(parseStrictJson(text)).toEqual({ fault: 'must be JSON' });
  },
);

test.each(['null', '[]', '[{}]', '1', '"text"', 'true'])(
  'JSON other than an object is refused: %s',
  (text) => {
    expect(parseStrictJson(text)).toEqual({ fault: 'must be a JSON object' });
  },
);

test('a million levels of nesting are refused or parsed, without a crash', () => {
  expect(parseStrictJson('['.repeat(1_000_000))).toEqual({ fault: 'must be JSON' });
  expect(parseStrictJson(`{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`)).toHaveProperty(
    'value',
  );
});
