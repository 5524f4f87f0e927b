// What oidc-provider stores: its sessions, interactions, codes, grants and refresh tokens.
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';

export type Payload = Record<string, unknown>;

/** `id` has only hashes of what a browser or an app holds. */
type StoredPayload = { id: string; payload: Payload; expiresAt: number };

export const PAYLOADS: TableDefinition<StoredPayload> = {
  name: 'oidc',
  id: 'id',
  orders: ['expiresAt'],
};

export type PayloadStore = Awaited<ReturnType<typeof openPayloads>>;

/** Times are in milliseconds since 1970. */
export async function openPayloads(open: OpenTable) {
  const rows = await open(PAYLOADS);
  return {
    async find(id: string): Promise<Payload | undefined> {
      const row = await rows.get(id);
      return row !== undefined && row.expiresAt > Date.now() ? row.payload : undefined;
    },
    put: (id: string, payload: Payload, expiresAt: number) => rows.put({ id, payload, expiresAt }),
    /** Marks it as used; false if it is already. Of many at the same time, one gets true. */
    async consume(id: string, consumed: number): Promise<boolean> {
      const written = await rows.update(id, (row) =>
        row === undefined || row.payload.consumed !== undefined
          ? row
          : { ...row, payload: { ...row.payload, consumed } },
      );
      return written !== undefined;
    },
    remove: rows.remove,
    select: rows.select,
    /** Removes those of a member. */
    forget: (memberId: string) => rows.removeWhere(({ payload }) => payload.accountId === memberId),
    /** Removes those that have expired. */
    clean: (now: number) => rows.removeUntil('expiresAt', now),
  };
}
