// Look-ups of members as a partner sees them. They are synchronous if the store's reads are.
import { allMaybe, type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { Key } from '@partner-loyalty/runtime/store/engine/keys.ts';
import type { Store } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { Marks } from '@partner-loyalty/runtime/store/marks/marks.ts';
import { currentId, enrolledMark, lookUpOf } from '../rules/enrollment.ts';
import type { ListEntry, ListQuery } from '../rules/list.ts';
import type { LookUp, MemberKey, PartnerMember } from '../rules/member.ts';
import { enrolledParts, externalParts, type MemberRecord } from '../rules/record.ts';
import { isMerged, KEYS, LISTS, MEMBERS } from './rows.ts';

export function createLookUp(store: Store, marks: Marks) {
  // Cast: the rows of the keys of enrollments have all that the partner sees.
  const byKey = (key: Key) => store.get(KEYS, key) as MaybePromise<PartnerMember | undefined>;

  /** The member who is found by an ID, which may be that of one who was merged. */
  function record(partnerId: string, memberId: string): MaybePromise<MemberRecord | undefined> {
    return mapMaybe(store.get(MEMBERS, [memberId]), (row) => {
      if (row === undefined || !isMerged(row)) return row;
      const current = currentId(row, partnerId);
      return current === undefined ? undefined : record(partnerId, current);
    });
  }

  function byId(partnerId: string, memberId: string): MaybePromise<LookUp> {
    return mapMaybe(record(partnerId, memberId), (found) => {
      const result = lookUpOf(found, partnerId);
      if (result.status !== 'NOT_FOUND') return result;
      return mapMaybe(marks.has(enrolledMark(partnerId, memberId)), (isErased) =>
        isErased ? { status: 'ERASED' } : result,
      );
    });
  }

  function lookUp(partnerId: string, { by, value }: MemberKey): MaybePromise<LookUp> {
    if (by === 'memberId') return byId(partnerId, value);
    const key = by === 'email' ? enrolledParts(partnerId, value) : externalParts(partnerId, value);
    return mapMaybe(byKey(key), (member) =>
      member === undefined ? { status: 'NOT_FOUND' } : { status: 'FOUND', member },
    );
  }

  return {
    /**
     * Finds a member actively enrolled with the partner by a current or historical address that
     * the partner may use. One read, the same for a member who is unknown and one who is not
     * enrolled. All look-ups return the member as the partner sees it.
     */
    memberByEmail: (partnerId: string, canonical: string) =>
      byKey(enrolledParts(partnerId, canonical)),
    /** Finds a member by the external ID of an active enrollment with the partner. One read. */
    memberByExternalId: (partnerId: string, externalId: string) =>
      byKey(externalParts(partnerId, externalId)),
    /** Finds a member actively enrolled with the partner. */
    memberById: (partnerId: string, memberId: string) =>
      mapMaybe(byId(partnerId, memberId), ({ member }) => member),
    /**
     * Looks members up, in the order of the keys. All keys take one read, or two if IDs are among
     * others, and one more if an ID finds nobody: the same ones for members who are unknown and for
     * those who were never enrolled.
     */
    lookUp: (partnerId: string, keys: readonly MemberKey[]): MaybePromise<LookUp[]> =>
      allMaybe(keys.map((key) => lookUp(partnerId, key))),
    /** Members who are or were enrolled with the partner, by one range. */
    list: ({ partnerId, status, after, until, limit }: ListQuery): MaybePromise<ListEntry[]> =>
      mapMaybe(
        store.range(LISTS, {
          prefix: [partnerId, status],
          after: [partnerId, status, after.updatedAt, after.memberId],
          until: [partnerId, status, until],
          limit,
        }),
        (found) =>
          found.map(({ key: [, , updatedAt, memberId], row }) => ({
            partnerId,
            status,
            updatedAt: Number(updatedAt),
            memberId: String(memberId),
            // Cast: those of active enrollments have all that the partner sees.
            member: status === 'ACTIVE' ? (row as PartnerMember) : undefined,
          })),
      ),
  };
}
