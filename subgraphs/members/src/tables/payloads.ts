// What oidc-provider stores: its sessions, interactions, codes, grants and refresh tokens.
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import { digest } from './access.ts';

export type Payload = Record<string, unknown>;

/**
 * `id` has only hashes of what a browser or an app holds. In JSON, names may be URLs. Interactions
 * of the former version have `begunUntil`.
 */
type StoredPayload = { id: string; json: string; expiresAt: number; begunUntil?: number };

export const PAYLOADS: TableDefinition<StoredPayload> = {
  name: 'oidc',
  id: 'id',
  orders: ['expiresAt', 'begunUntil'],
};

/** The ID of the browsers that have signed in with an address, as a member or as staff. */
export function knownId(address: string): string {
  return `Known:${digest(address)}`;
}

type Kept = { payload: Payload; expiresAt: number };

export type PayloadStore = Awaited<ReturnType<typeof openPayloads>>;

/** Times are in milliseconds since 1970. */
export async function openPayloads(open: OpenTable) {
  const rows = await open(PAYLOADS);
  return {
    async find(id: string): Promise<Payload | undefined> {
      const row = await rows.get(id);
      return row !== undefined && row.expiresAt > Date.now() ? JSON.parse(row.json) : undefined;
    },
    put: (id: string, payload: Payload, expiresAt: number) =>
      rows.put({ id, json: JSON.stringify(payload), expiresAt }),
    /** Marks it as used; false if it is already. Of many at the same time, one gets true. */
    async consume(id: string, consumed: number): Promise<boolean> {
      const written = await rows.update(id, (row) => {
        const payload = row && JSON.parse(row.json);
        return row === undefined || payload.consumed !== undefined
          ? row
          : { ...row, json: JSON.stringify({ ...payload, consumed }) };
      });
      return written !== undefined;
    },
    /**
     * Writes what `next` makes of a row, expired or not; the same object is not written. Resolves
     * with whether it has written. `next` may be called several times.
     */
    async change(
      id: string,
      next: (before: Kept | undefined, now: number) => Kept | undefined,
    ): Promise<boolean> {
      const written = await rows.update(id, (row) => {
        const before = row && { payload: JSON.parse(row.json), expiresAt: row.expiresAt };
        const after = next(before, Date.now());
        if (after === undefined || after === before) return row;
        return { id, json: JSON.stringify(after.payload), expiresAt: after.expiresAt };
      });
      return written !== undefined;
    },
    remove: rows.remove,
    removeAll: (ids: readonly string[]) => rows.updateAll(ids, () => undefined),
    select: rows.select,
    /** Removes those of a member. */
    forget: (memberId: string) =>
      rows.removeWhere(({ json }) => JSON.parse(json).accountId === memberId),
    /** Removes those that have expired. */
    clean: (now: number) => rows.removeUntil('expiresAt', now),
  };
}
