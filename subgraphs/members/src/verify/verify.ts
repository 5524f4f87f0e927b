// Verifies the store of members: each record, and that what finds and lists it is what it says.
import type { Key } from '@partner-loyalty/runtime/store/engine/keys.ts';
import { verifyTable } from '@partner-loyalty/runtime/store/engine/verify.ts';
import type { StoreSettings } from '@partner-loyalty/runtime/store/engine.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { verifyRows } from '@partner-loyalty/runtime/store/tables.ts';
import { EVENTS, isMerged, MEMBERS, type MemberRow } from '../store/rows.ts';
import { openRows } from '../store/store.ts';
import { SMALL_TABLES } from '../tables/tables.ts';
import { checkMember, isEvent, nameOf } from './member.ts';

/** Reports what is wrong with the store. Resolves with the number of members. */
export async function verifyMembers(
  settings: StoreSettings,
  inspection: Inspection,
): Promise<number> {
  const { report } = inspection;
  const store = await openRows(settings);
  const broken = new Set<string>();
  let count = 0;

  async function check(memberId: string, row: MemberRow): Promise<void> {
    if (!isMerged(row)) {
      count += 1;
      if (!(await checkMember(memberId, row, inspection))) broken.add(memberId);
    } else if ((await store.get(MEMBERS, [row.mergedInto])) === undefined)
      report(nameOf(memberId), 'is part of a member who does not exist');
  }

  try {
    await verifyTable(
      store,
      MEMBERS,
      ([id], problem) => {
        // What finds a member follows from the record.
        if (!broken.has(String(id))) report(nameOf(String(id)), problem);
      },
      {
        async inspect(page) {
          for (const { key, row } of page) await check(String(key[0]), row);
        },
      },
    );
    await verifyRows(store, SMALL_TABLES, report);
    const reportEvent = ([at]: Key, problem: string) => report(`the event at ${at}`, problem);
    await verifyTable(store, EVENTS, reportEvent, {
      inspect(page) {
        for (const { key, row } of page) if (!isEvent(row)) reportEvent(key, 'it is not valid');
      },
    });
    return count;
  } finally {
    await store.close();
  }
}
