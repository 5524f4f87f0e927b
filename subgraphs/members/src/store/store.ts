// What the members subgraph needs from its store, in domain words.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { StoreState } from '@partner-loyalty/runtime/store/outage.ts';
import type { RightsStore } from '../rights/rights.ts';
import type { ListEntry, ListQuery } from '../rules/list.ts';
import type {
  ImportResult,
  LookUp,
  MemberImport,
  MemberKey,
  MergedPair,
  PartnerMember,
} from '../rules/member.ts';
import type { MemberRecord } from '../rules/record.ts';
import type { MembersTables } from '../tables/tables.ts';
import type { EnrollmentStore } from './engine.ts';
import type { EventStore } from './eventstore.ts';
import type { LockStore } from './lockstore.ts';
import type { TokenStore } from './tokenstore.ts';

/** How many members an index that is being built has, and of how many. */
export type BuildProgress = (members: number, total: number) => void;

/** Implemented by store.lmdb.ts and store.mongo.ts. */
export type MembersStore = EnrollmentStore &
  MembersTables & {
    /**
     * Finds a member actively enrolled with the partner by a current or historical address that
     * the partner may use. One indexed read, the same for a member who is unknown and one who is
     * not enrolled. All look-ups return the member as the partner sees it.
     */
    memberByEmail(partnerId: string, canonical: string): MaybePromise<PartnerMember | undefined>;
    /**
     * Finds a member by the external ID of an active enrollment with the partner. One indexed read.
     */
    memberByExternalId(
      partnerId: string,
      externalId: string,
    ): MaybePromise<PartnerMember | undefined>;
    /** Finds a member actively enrolled with the partner. */
    memberById(partnerId: string, memberId: string): MaybePromise<PartnerMember | undefined>;
    /**
     * Looks members up, in the order of the keys. All keys take one indexed read, or two if IDs are
     * among others, and one more if an ID finds nobody: the same ones for members who are unknown
     * and for those who were never enrolled.
     */
    lookUp(partnerId: string, keys: readonly MemberKey[]): MaybePromise<readonly LookUp[]>;
    /** Members who are or were enrolled with the partner, by one range of an index. */
    list(query: ListQuery): MaybePromise<ListEntry[]>;
    member(memberId: string): MaybePromise<MemberRecord | undefined>;
    /**
     * Imports members as if one after the other, with the results in their order. Repeating an
     * import, or running it twice at the same time, changes nothing more.
     */
    importMembers(imports: readonly MemberImport[]): Promise<ImportResult[]>;
    tokens: TokenStore;
    /** What partners are told of changes. */
    events: EventStore;
    /** Which addresses are in dispute. */
    locks: LockStore;
    /**
     * Gives the member who stays all that the other one has. From one moment on, the latter is only
     * found as the former; until then, as before. It can be killed and repeated. No two merges may
     * share a member, unless the same one stays.
     */
    merge(pair: MergedPair): Promise<void>;
    /** Shows and erases what is kept of a member. */
    rights: RightsStore;
    isEmpty(): Promise<boolean>;
    /** Resolves if the engine answers; rejects otherwise. */
    ready(): Promise<StoreState>;
    close(): Promise<void>;
  };
