// Commands whose output nobody reads, or that has no room, as processes of a shell.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Folder, temporaryFolder } from '../../../test/support/folder.ts';
import { programArgs } from '../../../test/support/programs/programs.ts';
import { bareEnv, type Env, loyalty, loyaltyJson } from '../../../test/support/service/loyalty.ts';

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
  (await loyalty(env, 'members', 'export', memberId)).stdout.includes(`"memberId": "${memberId}"`);

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
