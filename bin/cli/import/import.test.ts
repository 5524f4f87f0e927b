// What an import reads.

import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { anyText } from '../../../test/support/text.ts';
import { type ImportOutcome, importLines, type RecordKind, type Summary } from './importer.ts';
import { createProgress } from './run.ts';
import { parseStrictJson } from './strictjson.ts';

// The importer with a list as its store: order, limits, bad lines and interruption.

type Run = { summary: Summary; bad: [number, string][]; stored: unknown[]; batches: number };

function kindOf(
  stored: unknown[],
  answer: (value: Record<string, unknown>) => ImportOutcome = () => 'added',
): RecordKind<Record<string, unknown>> {
  return {
    batchLines: 5_000,
    parse: (value) => (value.bad === true ? { fault: 'bad must not be true' } : { value }),
    async store(records) {
      stored.push(...records);
      return records.map(answer);
    },
  };
}

async function run(
  text: string,
  answer?: (value: Record<string, unknown>) => ImportOutcome,
): Promise<Run> {
  const result: Run = {
    summary: { lines: 0, bytes: 0, added: 0, changed: 0, unchanged: 0, bad: 0 },
    bad: [],
    stored: [],
    batches: 0,
  };
  const listener = {
    bad: (line: number, reason: string) => void result.bad.push([line, reason]),
    stored: () => {
      result.batches += 1;
    },
  };
  result.summary = await importLines(
    Readable.from([Buffer.from(text)]),
    kindOf(result.stored, answer),
    listener,
  );
  return result;
}

test('usable lines are imported in the order of the file; the others are numbered', async () => {
  const { summary, bad, stored } = await run(
    '{"n":1}\nnot json\n\n  \t\r\n{"n":2}\n{"bad":true}\n[]\n{"n":3,"n":4}\n{"n":5}',
  );
  expect(stored).toEqual([{ n: 1 }, { n: 2 }, { n: 5 }]);
  expect(bad).toEqual([
    [2, 'must be JSON'],
    [6, 'bad must not be true'],
    [7, 'must be a JSON object'],
    [8, 'property "n" is repeated'],
  ]);
  expect(summary).toMatchObject({ lines: 9, added: 3, changed: 0, unchanged: 0, bad: 4 });
});

test('an empty file and a file of blank lines import nothing', async () => {
  expect((await run('')).summary).toMatchObject({ added: 0, bad: 0 });
  expect((await run('\n\r\n \n')).summary).toMatchObject({ lines: 3, added: 0, bad: 0 });
});

test('a failing store ends the import with its error, and nothing more is stored', async () => {
  let calls = 0;
  const kind: RecordKind<unknown> = {
    batchLines: 5_000,
    parse: (value) => ({ value }),
    async store() {
      calls += 1;
      throw new Error('disk full');
    },
  };
  async function* lines() {
    for (let n = 0; n < 20; n += 1) {
      await new Promise(setImmediate);
      yield Buffer.from('{"n":1}\n'.repeat(1_000));
    }
  }
  await expect(
    importLines(lines(), kind, { bad: () => undefined, stored: () => undefined }),
  ).rejects.toThrow('disk full');
  expect(calls).toBe(1);
});

test('a failing stream ends the import with its error, after storing what was read', async () => {
  const stored: unknown[] = [];
  async function* lines() {
    yield Buffer.from('{"n":1}\n'.repeat(6_000));
    throw new Error('the disk is gone');
  }
  await expect(
    importLines(lines(), kindOf(stored), { bad: () => undefined, stored: () => undefined }),
  ).rejects.toThrow('the disk is gone');
  expect(stored).toHaveLength(6_000);
});

// The progress of an import, on a terminal and anywhere else.

function terminal(isTTY: boolean): { stderr: PassThrough & { isTTY?: boolean }; text(): string } {
  const stderr: PassThrough & { isTTY?: boolean } = Object.assign(new PassThrough(), { isTTY });
  return { stderr, text: () => String(stderr.read() ?? '') };
}

test('a terminal shows a bar, lines, their rate and the time left', () => {
  const { stderr, text } = terminal(true);
  const progress = createProgress(stderr, 'members', 1_000);
  progress.update(500, 12_345);
  progress.stop();
  expect(text()).toMatch(/members .*50% \| 12,345 lines \| [\d,]+\/s \| \S+ left/s);
});

test('for stdin, whose size is unknown, it shows lines and their rate', () => {
  const { stderr, text } = terminal(true);
  const progress = createProgress(stderr, 'members', 0);
  progress.update(500, 12_345);
  progress.stop();
  expect(text()).toMatch(/members 12,345 lines \| [\d,]+\/s/);
});

test('a line replaces the bar and is printed whole', () => {
  const { stderr, text } = terminal(true);
  const progress = createProgress(stderr, 'members', 1_000);
  progress.line('line 3: must be JSON');
  progress.stop();
  expect(text()).toContain('\r\u001b[Kline 3: must be JSON\n');
});

test('a file or a pipe gets only the lines', () => {
  const { stderr, text } = terminal(false);
  const progress = createProgress(stderr, 'members', 1_000);
  progress.update(500, 12_345);
  progress.line('line 3: must be JSON');
  progress.stop();
  expect(text()).toBe('line 3: must be JSON\n');
});

// JSON objects, and which are refused.

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
