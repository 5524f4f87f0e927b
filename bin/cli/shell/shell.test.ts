// What every command shares.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { type Folder, temporaryFolder } from '../../../test/support/folder.ts';
import { programArgs } from '../../../test/support/programs/programs.ts';
import { bareEnv, type Env, loyalty, loyaltyJson } from '../../../test/support/service/loyalty.ts';
import { anyText } from '../../../test/support/text.ts';
import { parseDuration, parseInstant } from './argument.ts';
import { type Line, linesOf } from './lines.ts';

test('an instant has a T, as ISO 8601 has', () => {
  expect(parseInstant('2030-01-31T12:00Z')).toEqual(new Date('2030-01-31T12:00:00Z'));
  for (const text of ['2030-01-31 12:00:00Z', '2030-01-31', '1893499200', '2030-01-31T12:00:00Z\n'])
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

// The lines of a stream: their numbers, endings and limits.

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

// Commands whose output nobody reads, or that has no room, as processes of a shell.
describe('output', () => {
  /** File 3 is a pipe whose reader has gone. */
  const SHELL = 'exec 3> >(true); wait $!; exec "$@"';
  const [NO_READER, FULL, NO_READER_OF_NOTES] = ['>&3', '>/dev/full', '2>&3'];

  let folder: Folder;
  let env: Env;
  beforeAll(async () => {
    folder = temporaryFolder();
    env = { DATA_DIR: join(folder.path, 'data') };
    await loyaltyJson(env, 'partners', 'create', 'inn', '--name', 'Inn');
    await loyalty(env, 'members', 'import', fileOf('a', 'b', 'c', 'd'));
  });
  afterAll(() => folder.remove());

  /** Members of these names, a line each. */
  function fileOf(...names: string[]): string {
    const path = join(folder.path, `${names.join('')}.ndjson`);
    const lines = names.map((name) =>
      JSON.stringify({ memberId: name, email: `${name}@x.example`, enrollments: [] }),
    );
    writeFileSync(path, `${lines.join('\n')}\n`);
    return path;
  }

  /** What is printed where somebody reads it. */
  async function run(redirection: string, ...args: string[]) {
    const child = spawn(
      'bash',
      [
        '-c',
        `${SHELL} ${redirection}`,
        'bash',
        process.execPath,
        ...programArgs('bin/loyalty.ts'),
        ...args,
      ],
      { env: { ...bareEnv(), ...env } },
    );
    const ended = once(child, 'close');
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = await ended;
    return { code, stdout, stderr };
  }

  const has = async (memberId: string) =>
    (await loyalty(env, 'members', 'export', memberId)).stdout.includes(
      `"memberId": "${memberId}"`,
    );

  test('a list succeeds without a reader, and fails with a line on a full disk', async () => {
    expect(await run(NO_READER, 'partners', 'list')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await run(FULL, 'partners', 'list')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'loyalty: the output cannot be written: ENOSPC: no space left on device, write\n',
    });
  });

  test('a key that nobody saw was made: the command fails and names it', async () => {
    const { code, stderr } = await run(NO_READER, 'keys', 'create', 'inn');
    const [key] = await loyaltyJson(env, 'keys', 'list', 'inn');
    expect(code).toBe(1);
    expect(stderr).toBe(
      `loyalty: the secret of ${key?.keyId} is lost: make another one (the output cannot be written: EPIPE: broken pipe, write)\n`,
    );
  });

  test.each([NO_READER, FULL])(
    'a merge whose export is lost merges nothing, with %s, and others can be erased after it',
    async (redirection) => {
      const { code, stderr } = await run(redirection, 'members', 'merge', 'a', 'b');
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(/^loyalty: nothing was merged \(.*\)\n$/),
      });
      expect(await has('a')).toBe(true);
      const erased = fileOf('e');
      await loyalty(env, 'members', 'import', erased);
      expect((await run('', 'members', 'erase', 'e')).code).toBe(0);
      await loyalty(env, 'members', 'import', '--again', erased);
    },
  );

  test('a merge goes on without a reader of its notes', async () => {
    const { code, stdout } = await run(NO_READER_OF_NOTES, 'members', 'merge', 'c', 'd');
    expect(code).toBe(0);
    expect(stdout).toContain('"memberId": "c"');
    expect(await has('c')).toBe(false);
  });

  test('a reader who does not read the export of a merge keeps no erasure waiting', async () => {
    await loyalty(env, 'members', 'import', fileOf('g', 'h', 'i'));
    const activities = Array.from({ length: 4_000 }, (_, index) =>
      JSON.stringify({
        partnerId: 'inn',
        memberId: 'g',
        activityId: `${index}`.padStart(100, 'a'),
        occurredAt: '2026-02-01T00:00:00Z',
        points: 1,
      }),
    );
    const file = join(folder.path, 'activities.ndjson');
    writeFileSync(file, `${activities.join('\n')}\n`);
    await loyalty(env, 'activities', 'import', file);
    const merging = spawn(
      process.execPath,
      [...programArgs('bin/loyalty.ts'), 'members', 'merge', 'g', 'h'],
      { env: { ...bareEnv(), ...env }, stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const ended = once(merging, 'close');
    await once(merging.stdout, 'readable');
    expect((await run('', 'members', 'erase', 'i')).code).toBe(0);
    expect(await has('g')).toBe(true);
    expect((await text(merging.stdout)).length).toBeGreaterThan(500_000);
    expect((await ended)[0]).toBe(0);
    expect(await has('g')).toBe(false);
  });

  test.each([FULL, NO_READER_OF_NOTES])(
    'an import is finished with %s, whatever it has to say',
    async (redirection) => {
      const name = redirection === FULL ? 'f' : 'n';
      const { code } = await run(redirection, 'members', 'import', fileOf('not an ID', name));
      expect(code).toBe(1);
      expect(await has(name)).toBe(true);
    },
  );
});
