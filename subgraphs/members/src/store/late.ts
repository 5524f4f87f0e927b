// Stamps changes again that took long to commit, so that no list misses them.
import type { Enrollment } from '../rules/member.ts';
import type { MemberRecords } from '../rules/record.ts';
import type { ApplyRule } from './engine.ts';

/** Less than SETTLED_MS, by as much as the clocks of two processes may differ. */
const LATE_MS = 800;
const MAX_STAMPS = 3;

/**
 * Call it after a commit of what was stamped at `since` or later. If that took so long that a list
 * may have been read beyond it, the members are stamped again and show at its end.
 */
export async function stampIfLate(
  apply: ApplyRule,
  memberIds: string[],
  since: number,
): Promise<void> {
  if (memberIds.length === 0) return;
  let stampedAt = since;
  for (let stamps = 0; stamps < MAX_STAMPS && Date.now() - stampedAt > LATE_MS; stamps += 1) {
    const from = stampedAt;
    stampedAt = Date.now();
    await apply(memberIds, [], (records) => {
      for (const memberId of memberIds) stampAgain(records, memberId, from);
    });
  }
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
