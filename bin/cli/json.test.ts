// One line as a JSON object, and what is refused about it.
import fc from 'fast-check';
import { parseLine } from './json.ts';

test('an object is read as JSON.parse reads it, wherever its objects name the same properties', () => {
  const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), {
    noNullPrototype: true,
  });
  fc.assert(
    fc.property(object, fc.constantFrom(undefined, 1), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(parseLine(text)).toEqual({ value: JSON.parse(text) });
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
])('a property given twice is refused: %s', (text, name) => {
  expect(parseLine(text)).toEqual({ fault: `property ${name} is given twice` });
});

test('strings that look like properties are none', () => {
  const text = '{"a":"{\\"a\\":1}","b":["a","a",":"],"c":{"a":"\\\\"},"d":{"a":"b"}}';
  expect(parseLine(text)).toEqual({ value: JSON.parse(text) });
});

test.each(['', '{', '{"a":}', "{'a':1}", '{"a":1}{"a":1}', '{"a":"\t"}', 'NaN'])(
  'what is not JSON is refused without its text: %j',
  (text) => {
    expect(parseLine(text)).toEqual({ fault: 'not JSON' });
  },
);

test.each(['null', '[]', '[{}]', '1', '"text"', 'true'])(
  'JSON that is no object is refused: %s',
  (text) => {
    expect(parseLine(text)).toEqual({ fault: 'not a JSON object' });
  },
);

test('nesting a million deep is refused or read, never a crash', () => {
  expect(parseLine('['.repeat(1_000_000))).toEqual({ fault: 'not JSON' });
  expect(parseLine(`{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`)).toHaveProperty('value');
});
