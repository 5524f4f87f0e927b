// Import files: broken lines, broken JSON, broken records, in chunks that end anywhere.
import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { createActivityLineParser } from '../../bin/cli/commands/activities.ts';
import { importLines, type RecordKind } from '../../bin/cli/import/importer.ts';
import { createMemberLineParser } from '../../bin/cli/import/member.ts';
import type { Fuzzer } from './main.ts';
import { runCases } from './target.ts';

const texts = fc.oneof(
  fc.string({ maxLength: 40, unit: 'binary' }),
  fc.constantFrom(
    'alpha',
    'beta',
    'nobody',
    'a@example.com',
    'A@b',
    '2026-05-04T18:30:00Z',
    '2026-02-30',
    'ACTIVE',
    '__proto__',
  ),
);
const values = fc.oneof(
  texts,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.anything({ maxDepth: 2 }),
);
const members = fc.record(
  {
    memberId: values,
    email: values,
    previousEmails: fc.oneof(fc.array(texts), values),
    firstName: values,
    enrollments: fc.oneof(
      fc.array(
        fc.record({ partnerId: texts, externalId: values, status: values }, { requiredKeys: [] }),
      ),
      values,
    ),
    more: values,
  },
  { requiredKeys: [] },
);
const activities = fc.record(
  {
    activityId: values,
    partnerId: values,
    memberId: values,
    points: values,
    stays: values,
    occurredAt: values,
  },
  { requiredKeys: [] },
);
const line = fc.oneof(
  fc.oneof(members, activities).map((record) => Buffer.from(json(record))),
  fc.string({ unit: 'binary', maxLength: 200 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom(
      '['.repeat(50_000),
      '{"a":'.repeat(10_000),
      `{"a":1,${'"a":1,'.repeat(5_000)}"a":1}`,
      `"${'x'.repeat(1_100_000)}"`,
      '{"memberId":"\\ud800"}',
    )
    .map((text) => Buffer.from(text)),
);
const files = fc.record({
  lines: fc.array(line, { maxLength: 30 }),
  ending: fc.constantFrom('\n', '\r\n', '\n\n'),
  chunkBytes: fc.constantFrom(1, 3, 1_000, 1_000_000),
});

/** Every line is counted once, usable or not, and a fault quotes nothing of its line. */
export const fuzzImports: Fuzzer = (target, run) =>
  runCases(target, files, run, async ({ lines, ending, chunkBytes }) => {
    const file = Buffer.concat(lines.flatMap((each) => [each, Buffer.from(ending)]));
    const size = file.length > 100_000 ? 1_000_000 : chunkBytes;
    const chunks = function* () {
      for (let at = 0; at < file.length; at += size) yield file.subarray(at, at + size);
    };
    await importWith(chunks, createMemberLineParser(new Set(['alpha', 'beta'])));
    await importWith(chunks, createActivityLineParser(new Map([['alpha', undefined]])));
  });

async function importWith<T>(
  chunks: () => Iterable<Buffer>,
  parse: RecordKind<T>['parse'],
): Promise<void> {
  let stored = 0;
  let bad = 0;
  const kind: RecordKind<T> = {
    batchLines: 5_000,
    parse,
    async store(records) {
      stored += records.length;
      return records.map(() => 'added' as const);
    },
  };
  const listener = {
    bad(_: number, reason: string) {
      bad += 1;
      if (reason.length > 2_000) throw new Error(`a fault has ${reason.length} characters`);
    },
    stored() {},
  };
  const summary = await importLines(Readable.from(chunks()), kind, listener);
  if (summary.added !== stored || summary.bad !== bad || stored + bad > summary.lines)
    throw new Error(`lines were lost: ${JSON.stringify(summary)}, ${stored} stored, ${bad} bad`);
}

function json(record: unknown): string {
  try {
    return JSON.stringify(record) ?? '';
  } catch {
    return '{}'; // A bigint or a cycle.
  }
}
