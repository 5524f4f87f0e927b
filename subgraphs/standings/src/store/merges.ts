// The merging of members in the standings store, in domain terms, which both engines implement.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';

/**
 * Why a merge does not begin: another one with one of the two has, a sum would leave Int, or one of
 * the two was erased.
 */
export type MergeRefusal = 'shared' | 'out-of-range' | 'erased';

export type Merges = {
  /**
   * Adds to each of the sums of `into` what `from` has with the same partner in the same year, and
   * shows the activities of both for `into`. What is recorded for `from` from now on counts for
   * `into`. For `from`, standings and activities stay as they are until `finish`. It can be killed
   * and repeated. Of merges that would make a chain, at most one begins. Beside an erasure of one
   * of the two, it is refused, or `idsOf` has both once `eraseMember` resolves.
   */
  begin(from: string, into: string): Promise<MergeRefusal | undefined>;
  /** Removes the standings of `from`, which nobody reads any more. It can be repeated. */
  finish(from: string): Promise<void>;
  /** By the ID of each of the members that was merged, the ID of the one that it is part of now. */
  currentIds(memberIds: readonly string[]): MaybePromise<ReadonlyMap<string, string>>;
  /** All IDs of the member with this one: first the current one, then those of merged members. */
  idsOf(memberId: string): Promise<string[]>;
  /** Forgets that members were merged. Only for erased ones. */
  forget(memberIds: readonly string[]): Promise<void>;
};
