// Whether a write that an embedded store has acknowledged would outlive a loss of power.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Folder, temporaryFolder } from '../support/folder.ts';
import { programArgs } from '../support/programs/programs.ts';

/** `from` and `to` are the lines where it begins and where it has returned. */
type SystemCall = { name: string; text: string; from: number; to: number };

let folder: Folder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** Reads what strace writes: a call takes two lines if one of another thread comes between. */
function parseTrace(trace: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const unfinished = new Map<string, SystemCall>();
  for (const [line, written] of trace.split('\n').entries()) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(written) ?? [];
    const begun = unfinished.get(thread);
    if (begun !== undefined && text.startsWith(`<... ${begun.name} resumed>`)) {
      Object.assign(begun, { text: begun.text + text, to: line });
      unfinished.delete(thread);
      continue;
    }
    const [, name] = /^(\w+)\(/.exec(text) ?? [];
    if (name === undefined) continue;
    const isFinished = !text.endsWith('<unfinished ...>');
    const call = { name, text, from: line, to: isFinished ? line : Number.POSITIVE_INFINITY };
    calls.push(call);
    if (!isFinished) unfinished.set(thread, call);
  }
  return calls;
}

/**
 * The writes and successful flushes of a file. `heads` are LMDB's writes of the page that makes a
 * transaction valid: by a descriptor of their own, they return when they are on disk.
 */
function callsOn(file: string, calls: SystemCall[]) {
  const writes: SystemCall[] = [];
  const syncs: SystemCall[] = [];
  const heads: SystemCall[] = [];
  let headDescriptor = '';
  for (const call of calls) {
    if (!call.text.includes(`<${file}>`)) continue;
    const [, descriptor] = /^\w+\((\d+)</.exec(call.text) ?? [];
    if (call.name === 'openat') {
      const [, opened = ''] = / = (\d+)<[^>]*>$/.exec(call.text) ?? [];
      if (call.text.includes('|O_DSYNC|')) headDescriptor = opened;
    } else if (call.name.endsWith('sync')) {
      if (/ = 0( \(DELAYED\))?$/.test(call.text)) syncs.push(call);
    } else if (descriptor === headDescriptor) heads.push(call);
    else writes.push(call);
  }
  return { writes, syncs, heads };
}

test('each write is flushed after its last page and before it is acknowledged', () => {
  const dataDir = join(folder.path, 'data');
  const out = join(folder.path, 'trace');
  execFileSync('strace', [
    ...['-f', '-y', '-o', out],
    ...['-e', 'trace=openat,write,writev,pwrite64,pwritev,fdatasync,fsync'],
    // A disk so slow that nothing is on it by chance.
    ...['-e', 'inject=fdatasync,fsync:delay_enter=30ms'],
    ...[process.execPath, ...programArgs('test/support/store/acknowledge.ts'), dataDir],
  ]);
  const calls = parseTrace(readFileSync(out, 'utf8'));
  const [opened, ...marks] = calls.filter(({ text }) =>
    /^write\(1<[^>]*>, "(opened|acknowledged)/.test(text),
  );
  let since = opened?.to ?? Number.NaN;
  const acknowledged = marks.map((mark) => {
    const [, store = ''] = /acknowledged: (\w+)/.exec(mark.text) ?? [];
    const { writes, syncs, heads } = callsOn(join(dataDir, store, 'data.mdb'), calls);
    const own = writes.filter(({ from }) => since < from && from < mark.from);
    since = mark.to;
    const lastWritten = Math.max(...own.map(({ to }) => to));
    const flush = syncs.find(({ from }) => lastWritten < from)?.to ?? Number.NaN;
    const head = heads.find(({ from }) => flush < from)?.to ?? Number.NaN;
    return { store, hasWritten: own.length > 0, isFlushed: head < mark.from };
  });
  const durable = (store: string) => ({ store, hasWritten: true, isFlushed: true });
  expect(acknowledged).toEqual([
    ...Array(3).fill(durable('members')),
    ...Array(3).fill(durable('standings')),
  ]);
});
