// `loyalty audit`: who was shown which member, from the audit log and the files rotated from it.
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ShellCommand, since } from '@partner-loyalty/cli/shell/argument.ts';
import { type Line, linesOf } from '@partner-loyalty/cli/shell/lines.ts';
import { CommandError, oneLine, type Row, type Shell } from '@partner-loyalty/cli/shell/shell.ts';
import type { GraphAction } from '@partner-loyalty/gateway/audit.ts';
import { createParser } from '@partner-loyalty/runtime/input.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { parseJson } from '@partner-loyalty/runtime/transport/wire.ts';
import * as z from 'zod';
import { auditLine, openAudit } from './audit.ts';

type Options = { member?: string; partner?: string; since?: Date };

/** Rows are printed in batches of this size, since a partner can have millions. */
const PRINTED_ROWS = 1_000;

export function commands(shell: Shell) {
  const command = new ShellCommand('audit')
    .description('show who was shown which member, from the file AUDIT_LOG and its rotated ones')
    .option('--member <id>', 'show only what was shown of this member')
    .option('--partner <id>', 'show only what this partner was shown, and what its staff did')
    .value('--since <time>', 'such as 12h or 7d ago, or an ISO 8601 time', since)
    .action((options: Options) => show(shell, options));
  return [command];
}

/** Runs a change of the graph, which notes in the audit log what it does. */
export async function audited<T>(
  shell: Shell,
  work: (note: (action: GraphAction) => void) => Promise<T>,
): Promise<T> {
  const { auditLog } = shell.settings();
  // Stdout has the result.
  if (auditLog === '-') return work((action) => shell.note(auditLine(action).trimEnd()));
  const observe = { log: createLog('silent'), metrics: createMetrics() };
  const audit = openAudit({ auditLog }, observe);
  try {
    return await work((action) => audit?.graph(action));
  } finally {
    await audit?.close();
  }
}

const access = z.object({
  time: z.iso.datetime(),
  partner: z.string(),
  keyId: z.string().optional(),
  memberId: z.string(),
  operation: z.string(),
  fields: z.array(z.string()),
  requestId: z.string(),
});
/** What staff did in the console. */
const staffAction = access
  .pick({ time: true, partner: true, operation: true, requestId: true })
  .extend({
    staffId: z.string(),
    target: z.string().optional(),
    failed: z.boolean().optional(),
  });
/** What was done with the graph, which no member or partner is part of. */
const graphAction = z.object({
  time: z.iso.datetime(),
  operation: z.templateLiteral(['supergraph.', z.string()]),
});
const parseAccess = createParser(z.union([access, staffAction, graphAction]));

async function show(shell: Shell, { member, partner, since }: Options): Promise<void> {
  if (member === undefined && partner === undefined)
    throw new CommandError('--member ID or --partner ID is missing');
  const path = shell.settings().auditLog;
  if (path === undefined || path === '-') throw new CommandError('AUDIT_LOG does not name a file');
  const from = since?.toISOString() ?? '';
  let rows: Row[] = [];
  let [found, torn] = [0, 0];
  const print = () => {
    if (rows.length > 0) shell.printAll(rows);
    rows = [];
  };
  for await (const line of auditLines(path, since)) {
    if ('text' in line && line.text === '') continue;
    const access = parseAccess('text' in line ? parseJson(line.text) : undefined);
    if ('fault' in access) {
      torn += 1;
      continue;
    }
    const { value } = access;
    if (!('partner' in value)) continue;
    if (member !== undefined && !('memberId' in value && value.memberId === member)) continue;
    if ((partner !== undefined && value.partner !== partner) || value.time < from) continue;
    found += 1;
    const time = new Date(value.time);
    if (rows.push({ ...value, time }) === PRINTED_ROWS) print();
  }
  print();
  if (found === 0) shell.note('the audit log has no such line');
  if (torn > 0) shell.note(`skipped ${torn} torn ${torn === 1 ? 'line' : 'lines'}`);
}

/** The lines of the audit log, the oldest first. */
async function* auditLines(path: string, since: Date | undefined): AsyncGenerator<Line> {
  const files = await openFiles(path);
  if (files.length === 0) throw new CommandError(`there is no audit log ${path}`);
  try {
    for (const { name, handle } of files) {
      // No line is newer than its file, whose time some file systems and gzip cut to the second.
      const { mtimeMs } = await handle.stat();
      if (since !== undefined && mtimeMs + 1_000 < since.getTime()) continue;
      try {
        for await (const lines of linesOf(contentOf(name, handle))) yield* lines;
      } catch (error) {
        throw new CommandError(`${name} cannot be read: ${oneLine(error)}`);
      }
    }
  } finally {
    for (const { handle } of files) await handle.close();
  }
}

type OpenFile = { name: string; handle: FileHandle };

/** Opens all of them before it reads one, so that a rotation meanwhile loses none. */
async function openFiles(path: string): Promise<OpenFile[]> {
  const names = (await readdir(dirname(path))).flatMap((name) => {
    const age = ageOf(name, basename(path));
    return age === undefined ? [] : [{ name, age }];
  });
  const files: OpenFile[] = [];
  for (const { name } of names.sort((a, b) => b.age - a.age))
    files.push({ name, handle: await open(join(dirname(path), name)) });
  return files;
}

/**
 * How many files are newer, or what sorts in the same way; undefined if the file is not part of the
 * log. logrotate appends `.1`, `.2`, … or with `dateext` the day.
 */
function ageOf(name: string, logName: string): number | undefined {
  if (name === logName) return -Infinity;
  const suffix = name.startsWith(logName) ? name.slice(logName.length) : '';
  const [, count, day] = /^(?:\.(\d+)|-(\d{8}))(?:\.gz)?$/.exec(suffix) ?? [];
  if (count !== undefined) return Number(count);
  return day === undefined ? undefined : -Number(day);
}

function contentOf(name: string, handle: FileHandle): Readable {
  const content = handle.createReadStream({ autoClose: false });
  // An error of either ends the other, and so the reading.
  return name.endsWith('.gz') ? pipeline(content, createGunzip(), () => {}) : content;
}
