// The feed of events in domain terms, and the pages and blocks that it is made of.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { Table, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import type { Event, EventType } from '../rules/event.ts';
import type { Source } from '../rules/eventorder.ts';
import type { Program } from '../rules/program.ts';

/** Who gives positions. Each time that a process takes the lease, it gets another token. */
export type Lease = { name: string; token: string; until: number };

export const LEASES: TableDefinition<Lease> = { name: 'leases', id: 'name' };
/** The only row. */
export const LEASE = 'sequencer';

/** Another process has taken the lease. */
export class LeaseLost extends Error {
  constructor() {
    super('another process has the lease');
    this.name = 'LeaseLost';
  }
}

/** What is to get positions, beside the outbox of this subgraph. */
export type Batch = {
  members: Source<Event>;
  /** Own events that were made later wait. */
  ownUntil: number;
  /** The token of the lease. */
  token: string;
  /** The current time. */
  at: number;
};

export type PageQuery = {
  /** The position that the page begins after; undefined is the oldest event. */
  after: number | undefined;
  first: number;
  types: ReadonlySet<EventType> | undefined;
};

export type EventPage = {
  events: { position: number; event: Event }[];
  /** The position of the last event that was looked at. */
  end: number;
  hasNext: boolean;
};

/** Why there is no page: an event after the position was dropped, or it was never given. */
type NoPage = 'expired' | 'unknown';

/**
 * The events of each partner, at consecutive positions. An event is in an outbox from the moment
 * of its change until the feed has it.
 */
export type Feed = {
  leases: Table<Lease>;
  /**
   * Gives positions to events of members and of this subgraph's outbox, and removes the latter from
   * it. An event gets one position, whatever else runs at the same time and wherever an earlier
   * call was killed. Resolves with how many of the members' events, from the first, the feed now
   * has, whether there were events at all, and whether this outbox has more. Rejects if another
   * process has the lease.
   */
  append(batch: Batch): Promise<{ taken: number; isChanged: boolean; hasMore: boolean }>;
  page(partnerId: string, query: PageQuery): MaybePromise<EventPage | NoPage>;
  /** The position of the partner's last event, or 0. */
  last(partnerId: string): MaybePromise<number>;
  /** The events of a member, by partner and position, within bounded memory. */
  ofMember(memberId: string): AsyncIterable<Event>;
  /** Drops the events that got their positions before this day (`dayOf`). */
  dropBefore(day: number): Promise<void>;
  /** Up to when the ends of membership years have events; undefined at the first start. */
  yearsUntil(): MaybePromise<number | undefined>;
  /** Puts the events of years' ends into the outbox, unless somebody else has since `since`. */
  endYears(events: readonly Event[], since: number | undefined, until: number): Promise<void>;
  /** The partners with a program or with events. */
  partners(): Promise<Map<string, Program | undefined>>;
};

/** How many events of each outbox get their positions at once, about. */
export const BATCH_SIZE = 500;
/** The most events that are stored together, unless a part of them has more. */
const MAX_BLOCK = 100;
/** How many times `first` a page looks at, at most, for events of some types. */
const MAX_SEEN = 10;
const DAY_MS = 86_400_000;

/** The number of a UTC day. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** An event, or `count` of them, with one position after the other. */
type Part = { partnerId: string; count?: number };

/**
 * Puts parts together until they have MAX_BLOCK events, those of each partner after the last
 * position that `lastOf` knows.
 */
export function blocksOf<P extends Part>(
  parts: readonly P[],
  lastOf: (partnerId: string) => number,
): { partnerId: string; first: number; last: number; parts: P[] }[] {
  const open = new Map<string, { partnerId: string; first: number; last: number; parts: P[] }>();
  const blocks: ReturnType<typeof blocksOf<P>> = [];
  for (const part of parts) {
    const { partnerId, count = 1 } = part;
    const block = open.get(partnerId);
    if (block !== undefined && block.last + count - block.first < MAX_BLOCK) {
      block.parts.push(part);
      block.last += count;
      continue;
    }
    const last = block?.last ?? lastOf(partnerId);
    const next = { partnerId, first: last + 1, last: last + count, parts: [part] };
    open.set(partnerId, next);
    blocks.push(next);
  }
  return blocks;
}

/** Collects a page from blocks in their order; `last` is the partner's last position. */
export function createPage(query: PageQuery, last: number) {
  const { after, first, types } = query;
  const events: EventPage['events'] = [];
  const maxSeen = types === undefined ? first : MAX_SEEN * first;
  let seen = 0;
  let end = after;
  let isExpired = false;

  return {
    /** Adds a block. Whether the page needs more. */
    add(block: { first: number; events: readonly Event[] }): boolean {
      for (const [index, event] of block.events.entries()) {
        const position = block.first + index;
        if (end !== undefined && position <= end) continue;
        if (position > last || seen === maxSeen || events.length === first) return false;
        // Positions are consecutive, so what is missing was dropped. A reader from the oldest event
        // on misses nothing by it: days are not dropped all at once.
        if (after !== undefined && end !== undefined && position !== end + 1) {
          isExpired = true;
          return false;
        }
        end = position;
        seen += 1;
        if (types === undefined || types.has(event.type)) events.push({ position, event });
      }
      return true;
    },
    /** The page, once it needs no more or there are no more blocks. */
    done(): EventPage | NoPage {
      if (after !== undefined && after > last) return 'unknown';
      if (isExpired || (seen === 0 && after !== undefined && after < last)) return 'expired';
      return { events, end: end ?? last, hasNext: (end ?? last) < last };
    },
  };
}
