// The store of members: records, what finds and lists them, and the small tables beside them.
import { mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { openStore } from '@partner-loyalty/runtime/store/engine/open.ts';
import type { Store } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { StoreSettings } from '@partner-loyalty/runtime/store/engine.ts';
import { MARK_KEYS, MARKS, openMarks } from '@partner-loyalty/runtime/store/marks/marks.ts';
import { storedTable, tablesIn } from '@partner-loyalty/runtime/store/tables.ts';
import type { MemberImport, MergedPair } from '../rules/member.ts';
import type { KeyVault } from '../signingkeys/signingkey.ts';
import { openMembersTables, SMALL_TABLES } from '../tables/tables.ts';
import { createApply } from './apply.ts';
import { createEnrollmentStore } from './enrollmentstore.ts';
import { createEventStore } from './eventstore.ts';
import { importMembers } from './importer.ts';
import { createLockStore } from './lockstore.ts';
import { createLookUp } from './lookup.ts';
import { createRights } from './rights.ts';
import { EVENTS, isMerged, KEYS, MEMBERS, partsOf } from './rows.ts';
import { createTokenStore } from './tokenstore.ts';

export type MembersStore = Awaited<ReturnType<typeof createMembersStore>>;

/** Opens the tables of the store. Rejects if it belongs to the other environment, for example. */
export function openRows(settings: StoreSettings): Promise<Store> {
  const small = SMALL_TABLES.map(([definition]) => storedTable(definition));
  return openStore(settings, 'members', [MEMBERS, EVENTS, MARKS, MARK_KEYS, ...small]);
}

/** `onErasure` is called before anything is erased. */
export async function createMembersStore(
  store: Store,
  { vault, dataDir, onErasure }: { vault: KeyVault; dataDir: string; onErasure(): Promise<void> },
) {
  const marks = await openMarks(store);
  const others = await openMembersTables(tablesIn(store), vault);
  const apply = createApply(store);
  const events = createEventStore(store);

  const member = (memberId: string) =>
    mapMaybe(store.get(MEMBERS, [memberId]), (row) => (row && !isMerged(row) ? row : undefined));
  const find = (key: string) =>
    mapMaybe(
      store.get(KEYS, partsOf(key)),
      (found): ReturnType<typeof member> =>
        found === undefined ? undefined : member(found.memberId),
    );

  return {
    ...createLookUp(store, marks),
    ...createEnrollmentStore(apply),
    ...others,
    member,
    /**
     * Imports members as if one after the other, with the results in their order. Repeating an
     * import, or running it twice at the same time, changes nothing more.
     */
    importMembers: (imports: readonly MemberImport[]) => importMembers(apply, marks, imports),
    tokens: createTokenStore(store, find, apply, others.apps),
    /** What partners are told of changes. */
    events,
    /** Which addresses are in dispute. */
    locks: createLockStore(find, apply),
    /**
     * Gives the member who stays all that the other one has, who is then only found as the former.
     * It can be repeated.
     */
    merge: (pair: MergedPair): Promise<void> => apply((records) => records.merge(pair)),
    /** Shows and erases what is kept of a member. */
    rights: createRights({ store, marks, events, apply, find, others, dataDir, onErasure }),
    isEmpty: async () => (await store.range(MEMBERS, { prefix: [], limit: 1 })).length === 0,
    /** Resolves if the engine answers; rejects otherwise. */
    ready: store.ready,
    close: store.close,
  };
}
