// The audit log.

import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Accesses } from '@partner-loyalty/gateway/execute/members.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { type Folder, temporaryFolder } from '../../../test/support/folder.ts';
import { loyalty, loyaltyJson } from '../../../test/support/service/loyalty.ts';
import { until } from '../../../test/support/until.ts';
import { openAudit } from './audit.ts';
import { type AuditSink, openAuditFile } from './file.ts';

// `loyalty audit`: which lines it prints, of which files, and what it skips.
describe('command', () => {
  let folder: Folder;
  let env: { AUDIT_LOG: string };
  beforeEach(() => {
    folder = temporaryFolder();
    env = { AUDIT_LOG: join(folder.path, 'audit.log') };
  });
  afterEach(() => folder.remove());

  const access = (time: string, partner: string, memberId: string) => ({
    time,
    partner,
    keyId: `key_of_${partner}`,
    memberId,
    operation: 'memberByEmail',
    fields: ['email', 'tier'],
    requestId: 'r-1',
  });
  const [OLDEST, OLD, NEW] = ['2021-05-01', '2021-05-16', '2021-05-17'].map(
    (day) => `${day}T10:00:00.000Z`,
  ) as [string, string, string];
  const ndjson = (lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const write = (name: string, content: string | Buffer) =>
    writeFileSync(join(folder.path, name), content);
  const audit = (...args: string[]) => loyaltyJson(env, 'audit', ...args);

  test('what a member was shown to, from the oldest rotated file to the newest line', async () => {
    write('audit.log', ndjson([access(NEW, 'beta', 'm-1'), access(NEW, 'beta', 'm-2')]));
    write('audit.log.1', ndjson([access(OLD, 'acme', 'm-1')]));
    write('audit.log.10.gz', gzipSync(ndjson([access(OLDEST, 'acme', 'm-1')])));
    write('audit.log.bak', ndjson([access(OLD, 'copied', 'm-1')]));
    write('another.log', ndjson([access(OLD, 'another', 'm-1')]));
    expect(await audit('--member', 'm-1')).toEqual([
      access(OLDEST, 'acme', 'm-1'),
      access(OLD, 'acme', 'm-1'),
      access(NEW, 'beta', 'm-1'),
    ]);
    expect(await audit('--partner', 'beta')).toMatchObject([
      { memberId: 'm-1' },
      { memberId: 'm-2' },
    ]);
    expect(await audit('--partner', 'beta', '--member', 'm-2')).toMatchObject([
      { partner: 'beta' },
    ]);
    const { stdout } = await loyalty(env, 'audit', '--member', 'm-2');
    expect(stdout.split('\n')).toEqual([
      'time                     partner  keyId        memberId  operation      fields      requestId',
      `${NEW.slice(0, 19).replace('T', ' ')} UTC  beta     key_of_beta  m-2       memberByEmail  email,tier  r-1`,
      '',
    ]);
  });

  test('what a partner’s staff did shows with the partner, and with no member', async () => {
    const done = {
      time: NEW,
      partner: 'acme',
      staffId: 'staff_1',
      operation: 'console.keys.revoke',
      requestId: 'r-2',
      target: 'key_1',
    };
    write('audit.log', ndjson([done, access(NEW, 'acme', 'm-1')]));
    expect(await audit('--partner', 'acme')).toEqual([done, access(NEW, 'acme', 'm-1')]);
    expect(await audit('--member', 'm-1')).toEqual([access(NEW, 'acme', 'm-1')]);
  });

  test('files that logrotate names by day, and only what is new enough', async () => {
    write('audit.log-20210518', ndjson([access(NEW, 'acme', 'm-1')]));
    write('audit.log-20210517.gz', gzipSync(ndjson([access(OLD, 'acme', 'm-1')])));
    // Not even read: it would be refused.
    write('audit.log-20210502.gz', 'not what gzip writes');
    utimesSync(join(folder.path, 'audit.log-20210502.gz'), new Date(OLDEST), new Date(OLDEST));
    const since = (time: string) => audit('--member', 'm-1', '--since', time);
    expect(await since('2021-05-02T00:00:00Z')).toMatchObject([{ time: OLD }, { time: NEW }]);
    expect(await since(NEW)).toMatchObject([{ time: NEW }]);
    const { code, stderr } = await loyalty(env, 'audit', '--member', 'm-1');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^loyalty: audit\.log-20210502\.gz cannot be read: .*incorrect header check\n$/,
    );
  });

  test('torn lines are skipped and counted, wherever they are', async () => {
    const whole = ndjson([access(NEW, 'acme', 'm-1')]);
    write('audit.log.1', `${whole}${whole.slice(0, 60)}`);
    write('audit.log', `{"time":"2021\n${whole}\n${whole.slice(0, -20)}`);
    const { code, stdout, stderr } = await loyalty(env, 'audit', '--member', 'm-1', '--json');
    expect([code, stdout, stderr]).toEqual([0, `${whole}${whole}`, 'skipped 3 torn lines\n']);
  });

  test.each<[string, Record<string, string>, string[], string]>([
    ['nothing to look for', {}, [], '--member ID or --partner ID is missing'],
    ['no file', { AUDIT_LOG: '-' }, ['--member', 'm-1'], 'AUDIT_LOG does not name a file'],
    ['no setting', { AUDIT_LOG: '' }, ['--member', 'm-1'], 'AUDIT_LOG does not name a file'],
    ['no log yet', {}, ['--member', 'm-1'], 'there is no audit log '],
    ['no time', {}, ['--member', 'm-1', '--since', 'monday'], '--since must be a duration such as'],
  ])('refuses %s', async (_, more, args, reason) => {
    const { code, stdout, stderr } = await loyalty({ ...env, ...more }, 'audit', ...args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^loyalty: .*\n$/);
    expect(stderr).toContain(reason);
  });
});

test('a line for each member, but names of fields up to a quarter of a megabyte, 64 of a member', async () => {
  const folder = temporaryFolder();
  const auditLog = join(folder.path, 'audit.log');
  const audit = openAudit({ auditLog }, { log: createLog('silent'), metrics: createMetrics() });
  const principal = {
    ...{
      id: 'key_1',
      surface: 'partner' as const,
      owner: 'acme',
      budget: 1,
      policy: 'key' as const,
    },
    ...{ caller: { kind: 'partner' as const, partnerId: 'acme' }, scopes: 0, isSuspended: false },
  };
  expect(audit?.records(principal)).toBe(true);
  const accesses = new Accesses(45);
  const fields = Array.from({ length: 64 }, (_, place) => 'x'.repeat(126) + place);
  const operation = 'offers';
  for (let member = 0; member < 1_000; member += 1) accesses.add(operation, `m${member}`, fields);
  accesses.add(operation, 'm0', ['a', 'b']);
  audit?.record('r-1', principal, accesses);
  await audit?.close();
  const text = readFileSync(auditLog, 'utf8');
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ memberId }) => memberId)).toEqual(
    Array.from({ length: 1_000 }, (_, member) => `m${member}`),
  );
  expect(lines[0]).toMatchObject({
    ...{ partner: 'acme', keyId: 'key_1', requestId: 'r-1', operation },
    fields,
  });
  expect(lines.filter((line) => line.fields.length === 0).length).toBeGreaterThan(950);
  expect(text.length).toBeLessThan(500_000);
  folder.remove();
});

// The audit log in a file: its mode, whole lines, log rotation, and a disk that fails.
describe('file', () => {
  let folder: Folder;
  let path: string;
  const opened: AuditSink[] = [];
  const counts = { written: 0, lost: 0, failed: 0 };
  const logged: string[] = [];
  beforeEach(() => {
    folder = temporaryFolder();
    mkdirSync(join(folder.path, 'logs'));
    path = join(folder.path, 'logs', 'audit.log');
    Object.assign(counts, { written: 0, lost: 0, failed: 0 });
    logged.length = 0;
  });
  afterEach(async () => {
    for (const sink of opened.splice(0)) await sink.close().catch(() => undefined);
    folder.remove();
  });

  function openFile(maxBytes?: number): AuditSink {
    const log = {
      // Each attempt calls it; the log counts them together.
      outage: (fields: object, message: string) => {
        expect(fields).toEqual({ reason: 'ENOENT' });
        if (logged.at(-1) !== message) logged.push(message);
      },
      recovered: (_: object, message: string) => void logged.push(message),
    };
    const metrics = {
      audit(outcome: keyof typeof counts, count: number) {
        counts[outcome] += count;
      },
    };
    const sink = openAuditFile(path, { log, metrics }, maxBytes);
    opened.push(sink);
    return sink;
  }

  const read = (file = path) => readFileSync(file, 'utf8');

  test('appends lines to a file that only its owner can read', async () => {
    writeFileSync(path, 'before\n', { mode: 0o600 });
    const sink = openFile();
    sink.write('one\n');
    sink.write('two\n');
    expect(sink.state()).toBe('up');
    await sink.close();
    expect(read()).toBe('before\none\ntwo\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(counts).toEqual({ written: 2, lost: 0, failed: 0 });
  });

  test('lines of several writers stay whole', async () => {
    const [one, other] = [openFile(), openFile()];
    for (let index = 0; index < 20_000; index++)
      (index % 2 === 0 ? one : other).write(`${index} ${'x'.repeat(100)}\n`);
    await Promise.all([one.close(), other.close()]);
    const lines = read().split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.every((line) => /^\d+ x{100}$/.test(line))).toBe(true);
    expect(new Set(lines).size).toBe(20_000);
  });

  test('begins a new line after one that another process tore, whenever that was', async () => {
    writeFileSync(path, '{"time":"20', { mode: 0o600 });
    const sink = openFile();
    sink.write('one\n');
    process.emit('SIGHUP');
    await until(() => counts.written === 1);
    appendFileSync(path, '{"part');
    sink.write('two\n');
    process.emit('SIGHUP');
    await until(() => counts.written === 2);
    appendFileSync(path, '{');
    sink.write('three\n');
    // What the process still has when it exits.
    process.listeners('exit').at(-1)?.(0);
    expect(read()).toBe('{"time":"20\none\n{"part\ntwo\n{\nthree\n');
  });

  test('follows the path when the file is renamed, at a signal and by itself', async () => {
    const sink = openFile();
    sink.write('one\n');
    process.emit('SIGHUP');
    await until(() => counts.written === 1);
    renameSync(path, `${path}.1`);
    sink.write('two\n');
    await until(() => counts.written === 2);
    expect([read(`${path}.1`), read()]).toEqual(['one\n', 'two\n']);
  });

  test('a path that fails: keeps lines, says degraded, and writes them once it can', async () => {
    const sink = openFile(100);
    renameSync(join(folder.path, 'logs'), join(folder.path, 'gone'));
    sink.write('one\n');
    await until(() => counts.failed > 0);
    expect(sink.state()).toBe('degraded');
    sink.write(`${'x'.repeat(90)}\n`);
    sink.write('one too many\n');
    expect(counts.lost).toBe(1);
    renameSync(join(folder.path, 'gone'), join(folder.path, 'logs'));
    await until(() => counts.written === 2);
    expect(read()).toBe(`one\n${'x'.repeat(90)}\n`);
    expect(sink.state()).toBe('up');
    expect(logged).toEqual(['the audit log cannot be written', 'the audit log is written again']);
  });

  test.each([
    ['in a folder that does not exist', 'nowhere/audit.log', 'ENOENT'],
    ['that is a folder', 'logs', 'EISDIR'],
  ])('refuses a path %s', (_, name, code) => {
    path = join(folder.path, name);
    expect(() => openFile()).toThrow(/^AUDIT_LOG: .* cannot be opened: /);
    expect(() => openFile()).toThrow(code);
  });

  test('refuses a device', () => {
    path = '/dev/null';
    expect(() => openFile()).toThrow('it is not a regular file');
  });
});
