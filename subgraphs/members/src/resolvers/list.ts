// The resolver of a partner's list of members, in pages.
import {
  connectionOf,
  cursorOf,
  noCursor,
  pageLength,
  positionIn,
} from '@partner-loyalty/runtime/cursor.ts';
import { failInput } from '@partner-loyalty/runtime/errors.ts';
import { allMaybe, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import * as z from 'zod';
import { byPosition, type ListPosition, SETTLED_MS } from '../rules/list.ts';
import type { MembersStore } from '../store/store.ts';
import { LENGTHS, partnerOf } from './input.ts';
import type { QueryMembersArgs, Resolvers } from './schema.generated.ts';

const MAX_FIRST = 500;
const DEFAULT_FIRST = 100;

/** It is synchronous if the store is. */
export function createList(store: Pick<MembersStore, 'list'>) {
  return {
    Query: {
      members(_, args, { caller }) {
        const partnerId = partnerOf(caller);
        const first = pageLength(args.first, DEFAULT_FIRST, MAX_FIRST);
        const after = startOf(args, partnerId);
        const until = Date.now() - SETTLED_MS;
        const statuses = args.status ? [args.status] : (['ACTIVE', 'ENDED'] as const);
        const reads = statuses.map((status) =>
          // One more than the page has, which says whether there is another page.
          store.list({ partnerId, status, after, until, limit: first + 1 }),
        );
        return mapMaybe(allMaybe(reads), (found) => {
          const entries = found.flat().sort(byPosition);
          const edges = entries.slice(0, first).map(({ updatedAt, member, ...entry }) => ({
            ...entry,
            node: member,
            updatedAt: new Date(updatedAt),
            cursor: encode({ updatedAt, memberId: entry.memberId }, partnerId),
          }));
          const end = edges.at(-1)?.cursor ?? args.after ?? encode(after, partnerId);
          return connectionOf(edges, entries.length > first, args.after, end);
        });
      },
    },
  } satisfies Resolvers;
}

/** The position that a page begins after. */
function startOf({ after, updatedSince }: QueryMembersArgs, partnerId: string): ListPosition {
  const since = { updatedAt: updatedSince == null ? 0 : timeOf(updatedSince), memberId: '' };
  if (after == null) return since;
  const position = decode(after, partnerId) ?? noCursor();
  return byPosition(position, since) > 0 ? position : since;
}

const INSTANT = z.iso.datetime({ offset: true });

function timeOf(value: unknown): number {
  const { data, success } = INSTANT.safeParse(value);
  if (success) return Math.max(0, Date.parse(data));
  return failInput('updatedSince', 'must be a time with its zone, such as "2026-01-31T09:00:00Z"');
}

// Callers keep cursors for years: their form never changes.

function encode({ updatedAt, memberId }: ListPosition, partnerId: string): string {
  return cursorOf([updatedAt, memberId], ['members', partnerId]);
}

function decode(cursor: string, partnerId: string): ListPosition | undefined {
  const [updatedAt, memberId, ...rest] = positionIn(cursor, ['members', partnerId]) ?? [];
  return typeof updatedAt === 'number' &&
    Number.isSafeInteger(updatedAt) &&
    updatedAt >= 0 &&
    typeof memberId === 'string' &&
    memberId.length <= 2 * LENGTHS.id &&
    rest.length === 0
    ? { updatedAt, memberId }
    : undefined;
}
