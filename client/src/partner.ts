// The client of partners, on their servers.
import { eachActivity, eachEdge, PAGE_INFO, type PageOptions } from './activities.ts';
import { type Base, createClient } from './client.ts';
import { authorizeWith, type Credential, KEY, refuseBrowser } from './credential.ts';
import { type EventIterator, type EventsOptions, eachEvent } from './events.ts';
import {
  type Activity,
  type ActivitySelection,
  DEFAULTS,
  type Event,
  type EventSelection,
  type EventType,
  type LookupStatus,
  type MemberEdge,
  type MemberKey,
  type Operations,
  type PartnerMemberRead,
  type PartnerMemberReadSelection,
  type QueryMembersArgs,
  SCHEMA,
} from './generated/partner.generated.ts';
import { callError } from './http/response.ts';
import { createSender } from './http/sender.ts';
import type { ClientOptions } from './options.ts';
import type { CallOptions, OnlyOf, Selected } from './surface/operation.ts';

type Member = Selected<PartnerMemberRead, typeof DEFAULTS.PartnerMemberRead>;

type LookUp<M> = { status: LookupStatus; member: M | null };

type LookUpOptions<M> = CallOptions & {
  /**
   * Called after each request with all entries so far, and the number of keys: what was read is
   * there even if a later request fails.
   */
  onProgress?: ((entries: readonly LookUp<M>[], total: number) => void) | undefined;
};

type Edge<M> = Omit<MemberEdge, 'node'> & { node: M | null };

/** What to list: the arguments of `members`, without those of pages. */
type ListOptions = CallOptions & Omit<QueryMembersArgs, 'first'> & { pageSize?: number };

const MEMBERS_PAGE = 500;

export type PartnerClient = Omit<Operations, 'members' | 'events'> &
  Base & {
    /**
     * Looks up any number of members. The result has an entry for each key, in their order, with a
     * status, and the member if the status is FOUND. Sends a request for every 100 keys, one after
     * the other.
     */
    lookUpMembers(
      keys: readonly MemberKey[],
      options?: LookUpOptions<Member>,
    ): Promise<LookUp<Member>[]>;
    lookUpMembers<const S extends PartnerMemberReadSelection>(
      keys: readonly MemberKey[],
      options: LookUpOptions<Selected<PartnerMemberRead, S>> & {
        select: S & OnlyOf<S, PartnerMemberReadSelection>;
      },
    ): Promise<LookUp<Selected<PartnerMemberRead, S>>[]>;
    /**
     * The members in the order of their last change, a page in each request. To resume later, keep
     * the `cursor` of the last edge and pass it as `after`.
     */
    members(options?: ListOptions): AsyncGenerator<Edge<Member>, void, undefined>;
    members<const S extends PartnerMemberReadSelection>(
      options: ListOptions & { select: S & OnlyOf<S, PartnerMemberReadSelection> },
    ): AsyncGenerator<Edge<Selected<PartnerMemberRead, S>>, void, undefined>;
    /** All activities of a member, newest first. Each page is a request, made when it is needed. */
    activities(memberId: string, options?: PageOptions): AsyncGenerator<Activity, void, undefined>;
    activities<const S extends ActivitySelection>(
      memberId: string,
      options: PageOptions & { select: S & OnlyOf<S, ActivitySelection> },
    ): AsyncGenerator<Selected<Activity, S>, void, undefined>;
    /** The events after a cursor, or all that are kept. Each page is a request. */
    events(options?: EventsOptions<EventType>): EventIterator<Omit<Event, 'member'>>;
    events<const S extends EventSelection>(
      options: EventsOptions<EventType> & { select: S & OnlyOf<S, EventSelection> },
    ): EventIterator<Selected<Event, S>>;
  };

/**
 * Which mutations may be sent again if it is unknown whether the first one arrived. Every mutation
 * of the schema has a row, or this does not compile: true if running it twice has the effect of
 * running it once.
 */
export const PARTNER_MUTATIONS: Readonly<Record<keyof typeof SCHEMA.Mutation, boolean>> = {
  enrollMember: true,
  // An activity is counted once for its ID.
  recordActivities: true,
  endEnrollment: true,
  changeExternalId: true,
  updateMember: true,
  // These send a mail each time.
  inviteMember: false,
  requestMagicLink: false,
  // A token works once: a second call fails even if the first one signed the member in.
  exchangeMagicLink: false,
};

/**
 * Throws if it runs in a browser, since a partner key must stay on a server, or if `key` is neither
 * a partner key nor a function.
 */
export function createPartnerClient({
  key,
  ...options
}: ClientOptions & { key: Credential }): PartnerClient {
  refuseBrowser();
  const surface = { schema: SCHEMA, defaults: DEFAULTS, mutations: PARTNER_MUTATIONS };
  const sender = createSender(options, authorizeWith(KEY, key));
  const client = createClient<Operations>(surface, sender);
  // Before the iterators take their names.
  const { members: readMembers, events: readEvents } = client;

  const more = {
    async lookUpMembers(
      keys: readonly MemberKey[],
      {
        select = DEFAULTS.PartnerMemberRead,
        onProgress,
        ...call
      }: LookUpOptions<Member> & { select?: PartnerMemberReadSelection } = {},
    ) {
      // Cast: the type of `lookUpMembers` says what the members have.
      const member = select as typeof DEFAULTS.PartnerMemberRead;
      const entries: LookUp<Member>[] = [];
      for (const batch of batchesOf(keys)) {
        const selection = { status: true, member } as const;
        entries.push(
          ...(await client.memberLookups({ keys: batch }, { ...call, select: selection })),
        );
        onProgress?.([...entries], keys.length);
      }
      return entries;
    },
    members({
      after,
      updatedSince,
      status,
      pageSize = MEMBERS_PAGE,
      select = DEFAULTS.PartnerMemberRead,
      ...call
    }: ListOptions & { select?: PartnerMemberReadSelection } = {}) {
      // Cast: the type of `members` says what the members have.
      const node = select as typeof DEFAULTS.PartnerMemberRead;
      const edges = { memberId: true, node, cursor: true, updatedAt: true, status: true } as const;
      const selection = { edges, pageInfo: PAGE_INFO };
      return eachEdge(async (from) => {
        const variables = { first: pageSize, after: from, updatedSince, status };
        const page = await readMembers(variables, { ...call, select: selection });
        if (page === null)
          throw callError('UNEXPECTED_RESPONSE', 'the page is null without an error', {});
        return page;
      }, after ?? undefined);
    },
    activities: eachActivity(async (memberId, activities, call) => {
      const member = await client.memberById({ memberId }, { ...call, select: { activities } });
      return member?.activities;
    }),
    events: eachEvent(readEvents),
  };
  const methods = Object.getOwnPropertyDescriptors(more);
  return Object.defineProperties(client as Base, methods) as PartnerClient;
}

/** The most keys that the service takes at once. */
const MAX_KEYS = 100;
/** Leaves room for the document within the 64 KiB of a request. */
const MAX_BYTES = 60_000;

/** The keys in groups that each fit into one request, in their order. */
export function batchesOf<Key>(keys: readonly Key[]): Key[][] {
  const batches: Key[][] = [];
  let bytes = 0;
  for (const key of keys) {
    const size = new TextEncoder().encode(JSON.stringify(key)).byteLength + 1;
    const current = batches.at(-1);
    if (current === undefined || current.length === MAX_KEYS || bytes + size > MAX_BYTES) {
      batches.push([key]);
      bytes = size;
    } else {
      current.push(key);
      bytes += size;
    }
  }
  return batches;
}
