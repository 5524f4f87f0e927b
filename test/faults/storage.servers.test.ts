// The embedded store on a full disk, and with a damaged file.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Folder, temporaryFolder } from '../support/folder.ts';
import { ROOT } from '../support/programs/programs.ts';
import { loyaltyJson, spawnLoyalty } from '../support/service/loyalty.ts';
import { type DeployedService, startDeployed } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

const READ = '{ memberByEmail(email: "both@example.com") { memberId tier } }';
const ENROLL =
  'mutation ($email: String!, $name: String!) { enrollMember(input: { email: $email, firstName: $name }) { created } }';

let folder: Folder;
let service: DeployedService | undefined;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await service?.close();
  service = undefined;
  folder.remove();
});

let count = 0;

/** What `/readyz` and `/metrics` say of the stores that `/readyz` names. */
async function reported({ stack }: DeployedService) {
  const admin = (path: string) => fetch(`${stack.gateway.adminUrl}${path}`);
  const [readiness, metrics] = await Promise.all([admin('/readyz'), admin('/metrics')]);
  const text = await metrics.text();
  // Cast: the test would fail without them.
  const { dependencies } = (await readiness.json()) as { dependencies: Record<string, string> };
  const { keys, members, standings } = dependencies;
  return {
    status: readiness.status,
    dependencies: { keys, members, standings },
    up: ['keys', 'members', 'standings'].map((name) =>
      sample(text, `dependency_up{dependency="${name}"}`),
    ),
    room: sample(text, 'loyalty_store_room_bytes{store="members"}'),
    bytes: sample(text, 'loyalty_store_bytes{store="members"}'),
  };
}

function sample(metrics: string, series: string): number {
  const line = metrics.split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1));
}

/** Enrolls members until one is refused, and reads one after each refusal. */
async function expectReadsOnly({ send, stack }: DeployedService): Promise<void> {
  for (let refusals = 0; refusals < 5; ) {
    count += 1;
    const variables = { email: `${'e'.repeat(50)}${count}@example.com`, name: 'n'.repeat(100) };
    const { status, code } = await send({ query: ENROLL, variables });
    if (status === 200) continue;
    expect([status, code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect((await send({ query: READ })).status).toBe(200);
    refusals += 1;
  }
  await until(() => stack.gateway.output().includes('"msg":"a store is full"'));
}

async function expectWrites({ send }: DeployedService): Promise<void> {
  const variables = { email: 'later@example.com', name: 'Later' };
  expect((await send({ query: ENROLL, variables })).status).toBe(200);
}

/** Runs `work` with a disk of 1 MiB. */
async function withDisk(work: (disk: string) => Promise<void>): Promise<void> {
  const disk = join(folder.path, 'disk');
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
  try {
    await work(disk);
  } finally {
    execFileSync('umount', ['--lazy', disk]);
  }
}

function fillUp(disk: string): void {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize));
}

test('a full disk: writes are SERVICE_UNAVAILABLE, reads go on, and writes too once there is room', async () => {
  if (process.getuid?.() !== 0) return; // Only root can mount a small disk.
  await withDisk(async (disk) => {
    const started = await startDeployed('one process', {
      DATA_DIR: join(disk, 'data'),
      RATE_LIMIT_BUDGET: '1000000',
    });
    service = started;
    const before = await reported(service);
    expect(before.up).toEqual([1, 1, 1]);
    expect(before.room).toBeLessThan(1_048_576);
    await expectReadsOnly(service);
    fillUp(disk);
    // Reads go on, and no other process would have more room: it keeps its requests.
    expect(await reported(service)).toEqual({
      status: 200,
      dependencies: { keys: 'full', members: 'full', standings: 'full' },
      up: [0, 0, 0],
      room: 0,
      bytes: statSync(join(disk, 'data', 'members', 'data.mdb')).size,
    });
    execFileSync('mount', ['-o', 'remount,size=8m', disk]);
    await expectWrites(service);
    // Events get their positions in the background, and once that has written it is up.
    const after = await until(async () => {
      const now = await reported(started);
      return Object.values(now.dependencies ?? {}).every((state) => state === 'up') && now;
    });
    expect(after.dependencies).toEqual({ keys: 'up', members: 'up', standings: 'up' });
    expect(after.room).toBeGreaterThan(1_048_576);
    await service.close();
  });
});

test('a full disk: the log goes on once there is room, and each line is whole', () =>
  withDisk(async (disk) => {
    const [file, filler] = [join(disk, 'log'), join(disk, 'filler')];
    const output = openSync(file, 'a');
    fillUp(disk);
    truncateSync(filler, statSync(filler).size - 4_096);
    const script = `import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
      const log = createLog('info');
      for (let n = 0; n < 100; n += 1) log.info({ count: n }, 'before');
      log.flush();
      console.error('full');
      setInterval(() => log.info({}, 'after'), 100);`;
    const args = ['--import', 'tsx', '--input-type=module', '-e', script];
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', output, 'pipe'] });
    try {
      if (child.stderr !== null) await once(child.stderr, 'data');
      rmSync(filler);
      const written = () => readFileSync(file, 'utf8');
      await until(() => written().includes('"after"'));
      const lines = written().trimEnd().split('\n');
      const counts = lines.flatMap((line) => JSON.parse(line).count ?? []);
      expect(counts).toEqual(Array.from({ length: 100 }, (_, n) => n));
    } finally {
      child.kill();
      closeSync(output);
    }
  }));

test('a disk without a byte: erase changes nothing and says so in one line, and succeeds once there is room', async () => {
  if (process.getuid?.() !== 0) return; // Only root can mount a small disk.
  await withDisk(async (disk) => {
    const env = { DATA_DIR: join(disk, 'data') };
    const file = join(folder.path, 'members.ndjson');
    writeFileSync(file, '{"memberId":"m-1","email":"a@example.com"}\n');
    await loyaltyJson(env, 'partners', 'create', 'inn', '--name', 'Inn');
    await loyaltyJson(env, 'members', 'import', file);
    const erase = () => spawnLoyalty(env, 'members', 'erase', 'm-1').ran;
    for (const hasErased of [false, true]) {
      if (hasErased) await loyaltyJson(env, 'members', 'erase', 'm-1');
      fillUp(disk);
      const { code, stdout, stderr } = await erase();
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(
        /^loyalty: the disk of \S+ is full: nothing was changed; make room, then try again\n$/,
      );
      rmSync(join(disk, 'filler'));
    }
    expect((await erase()).code).toBe(0);
  });
});

test('a limit on the size of files: the same, and the limit does not end the process', async () => {
  service = await startDeployed('one process', { RATE_LIMIT_BUDGET: '1000000' });
  const { stack } = service;
  const limit = (size: string) =>
    execFileSync('prlimit', ['--pid', `${stack.gateway.pid}`, `--fsize=${size}`]);
  limit(`${statSync(join(stack.env.DATA_DIR ?? '', 'members', 'data.mdb')).size}:`);
  await expectReadsOnly(service);
  // The disk has room, and so have the files of other stores.
  const { status, dependencies, up } = await reported(service);
  expect([status, dependencies.members, up[1]]).toEqual([200, 'full', 0]);
  limit('unlimited:');
  await expectWrites(service);
  expect((await reported(service)).dependencies.members).toBe('up');
});
