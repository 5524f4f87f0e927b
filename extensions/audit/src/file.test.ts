// The audit log in a file: its mode, whole lines, log rotation, and a disk that fails.
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Folder, temporaryFolder } from '../../../test/support/folder.ts';
import { until } from '../../../test/support/until.ts';
import type { AuditSink } from './file.ts';
import { openAuditFile } from './file.ts';

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
