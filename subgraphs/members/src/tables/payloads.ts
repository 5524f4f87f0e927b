// What oidc-provider stores: its sessions, interactions, codes, grants and refresh tokens.
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import { begunTable, openBegun } from './begun.ts';

export type Payload = Record<string, unknown>;

/**
 * `id` has only hashes of what a browser or an app holds. In JSON, names may be URLs. Interactions
 * alone have `begunUntil`, by which they are counted.
 */
type StoredPayload = { id: string; json: string; expiresAt: number; begunUntil?: number };

export const PAYLOADS: TableDefinition<StoredPayload> = {
  name: 'oidc',
  id: 'id',
  orders: ['expiresAt', 'begunUntil'],
};
export const AUTHORIZATIONS_BEGUN = begunTable('authorizationsbegun');

type Kept = { payload: Payload; expiresAt: number };

export type PayloadStore = Awaited<ReturnType<typeof openPayloads>>;

/** Times are in milliseconds since 1970. */
export async function openPayloads(open: OpenTable) {
  const rows = await open(PAYLOADS);
  const begun = await openBegun(open, {
    definition: AUTHORIZATIONS_BEGUN,
    most: { ofClient: 300, ofAll: 50_000 },
    total: () => rows.count('begunUntil'),
    remove: rows.remove,
    removeUntil: (now) => rows.removeUntil('expiresAt', now),
  });
  return {
    async find(id: string): Promise<Payload | undefined> {
      const row = await rows.get(id);
      return row !== undefined && row.expiresAt > Date.now() ? JSON.parse(row.json) : undefined;
    },
    /** `client` is the address that begins an interaction with it. */
    async put(id: string, payload: Payload, expiresAt: number, client?: string): Promise<void> {
      if (client !== undefined) await begun.add(client, { id, expiresAt });
      const counted = payload.kind === 'Interaction' && { begunUntil: expiresAt };
      await rows.put({ id, json: JSON.stringify(payload), expiresAt, ...counted });
    },
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
     * Writes what `next` makes of a row, expired or not; the same object is left alone. Resolves
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
    async remove(id: string, client?: string): Promise<void> {
      if (client !== undefined) await begun.finish(client, id);
      await rows.remove(id);
    },
    select: rows.select,
    /** Removes those of a member. */
    forget: (memberId: string) =>
      rows.removeWhere(({ json }) => JSON.parse(json).accountId === memberId),
    /** Removes those that have expired. */
    clean: begun.clean,
  };
}
