// The lines of a stream: their numbers, endings and limits.
import fc from 'fast-check';
import { anyText } from '../../../test/support/text.ts';
import { type Line, linesOf } from './lines.ts';

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function lines(text: string | Buffer, size = 3, maxBytes?: number): Promise<Line[]> {
  const all: Line[] = [];
  for await (const some of linesOf(pieces(Buffer.from(text), size), maxBytes)) all.push(...some);
  return all;
}

test('lines are numbered from 1, with blank ones and a last one without an ending', async () => {
  expect(await lines('one\n\nthree')).toEqual([
    { number: 1, text: 'one' },
    { number: 2, text: '' },
    { number: 3, text: 'three' },
  ]);
});

test('an empty file has no lines, and a final line feed begins none', async () => {
  expect(await lines('')).toEqual([]);
  expect(await lines('one\n')).toEqual([{ number: 1, text: 'one' }]);
});

test('CRLF ends a line as LF does, and each file joined into one may begin with a byte order mark', async () => {
  expect(await lines('\uFEFFone\r\ntwo\r\n\uFEFFthree\n\uFEFF\r\n')).toEqual([
    { number: 1, text: 'one' },
    { number: 2, text: 'two' },
    { number: 3, text: 'three' },
    { number: 4, text: '' },
  ]);
});

test('a line that is not UTF-8 is a fault, and the other lines are read', async () => {
  const bytes = Buffer.concat([
    Buffer.from('é\n'),
    Buffer.from([0xff, 0xfe, 0x0a]),
    Buffer.from('ü\n'),
  ]);
  for (const size of [1, 2, 64]) {
    expect(await lines(bytes, size)).toEqual([
      { number: 1, text: 'é' },
      { number: 2, fault: 'must be UTF-8' },
      { number: 3, text: 'ü' },
    ]);
  }
});

test('a line over the limit is a fault: in one piece or many, first, middle or last', async () => {
  const long = 'x'.repeat(11);
  for (const size of [1, 4, 100]) {
    expect(await lines(`${long}\nok\n${long}\nok\n${long}`, size, 10)).toEqual([
      { number: 1, fault: 'must have at most 10 bytes' },
      { number: 2, text: 'ok' },
      { number: 3, fault: 'must have at most 10 bytes' },
      { number: 4, text: 'ok' },
      { number: 5, fault: 'must have at most 10 bytes' },
    ]);
  }
});

test('the lines are the same however the bytes are cut into chunks', async () => {
  const text = fc
    .array(
      anyText().map((line) => line.replace(/[\r\n\uFEFF]/g, '·')),
      { minLength: 1 },
    )
    .map((all) => `${all.join('\n')}\n`);
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 50 }), async (whole, size) => {
      expect(await lines(whole, size)).toEqual(
        whole
          .slice(0, -1)
          .split('\n')
          .map((line, index) => ({ number: index + 1, text: line })),
      );
    }),
    { numRuns: 60 },
  );
});

test('a chunk is read only after the lines before it were taken, which bounds memory', async () => {
  let chunks = 0;
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) {
      chunks += 1;
      yield Buffer.from('line\n');
    }
  }
  let taken = 0;
  for await (const some of linesOf(endless())) {
    taken += some.length;
    expect(chunks).toBe(taken);
    if (taken === 5) break;
  }
});
