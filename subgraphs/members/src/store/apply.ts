// Applies rules to the records of members, each in one transaction.
import type { Reads, Store, Transaction } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { Enrollment } from '../rules/member.ts';
import type { MemberRecords } from '../rules/record.ts';
import { recordsOf, type StoredRecords } from './records.ts';

/** `reads` is as in `transact`. */
export type ApplyRule = <T>(
  rule: (records: StoredRecords, tx: Transaction) => T,
  reads?: readonly Reads[],
) => Promise<T>;

/** The rule, applied in one transaction. */
export function applied<Args extends unknown[], T>(
  apply: ApplyRule,
  rule: (records: StoredRecords, ...args: Args) => T,
): (...args: Args) => Promise<T> {
  return (...args) => apply((records) => rule(records, ...args));
}

/** Less than SETTLED_MS, by as much as the clocks of two processes may differ. */
const LATE_MS = 800;
const MAX_STAMPS = 3;

/**
 * If a commit took so long that a list may have been read beyond it, the members are stamped again
 * and show at its end.
 */
export function createApply(store: Store): ApplyRule {
  return async (rule, reads) => {
    let stampedAt = 0;
    let written: ReadonlySet<string> = new Set();
    const result = await store.transact((tx) => {
      const records = recordsOf(tx);
      [stampedAt, written] = [Date.now(), records.written];
      return rule(records, tx);
    }, reads);
    if (written.size === 0) return result;
    for (let stamps = 0; stamps < MAX_STAMPS && Date.now() - stampedAt > LATE_MS; stamps += 1) {
      const from = stampedAt;
      await store.transact((tx) => {
        const records = recordsOf(tx);
        records.prefetch([...written], []);
        stampedAt = Date.now();
        for (const memberId of written) stampAgain(records, memberId, from);
      });
    }
    return result;
  };
}

function stampAgain(records: MemberRecords, memberId: string, from: number): void {
  const record = records.byId(memberId);
  if (record === undefined) return;
  const isLate = ({ updatedAt }: Enrollment) => updatedAt >= from;
  if (!record.enrollments.some(isLate)) return;
  // Writing the record sets the time, and causes no event: the partner sees nothing else.
  const enrollments = record.enrollments.map((one) =>
    isLate(one) ? { ...one, updatedAt: 0 } : one,
  );
  records.write(record, { ...record, enrollments });
}
