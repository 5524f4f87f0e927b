// Invitations in the members store's LMDB: by hash, and by expiry for removing the old ones.
import type { RootDatabase } from 'lmdb';
import { type InvitationStore, type StoredInvitation, toInvitation } from './invitation.ts';

export function openInvitationTables(root: RootDatabase) {
  return {
    byHash: root.openDB<StoredInvitation, string>({ name: 'invitations', encoding: 'json' }),
    byExpiry: root.openDB<true, [expiresAt: number, hash: string]>({
      name: 'invitations-by-expiry',
      encoding: 'json',
    }),
  };
}

export function createLmdbInvitations(root: RootDatabase): InvitationStore {
  const { byHash, byExpiry } = openInvitationTables(root);

  const unexpired = (hash: string, now: number): StoredInvitation | undefined => {
    const stored = byHash.get(hash);
    return stored !== undefined && stored.expiresAt > now ? stored : undefined;
  };
  /** Has to be called in a transaction. */
  const removeStored = (hash: string) => {
    const stored = byHash.get(hash);
    if (stored === undefined) return;
    byExpiry.remove([stored.expiresAt, hash]);
    byHash.remove(hash);
  };

  return {
    async add(hash, invitation, expiresAt) {
      await root.transaction(() => {
        byHash.put(hash, { ...invitation, expiresAt, claimedUntil: 0 });
        byExpiry.put([expiresAt, hash], true);
      });
      await root.flushed;
    },
    find(hash, now) {
      const stored = unexpired(hash, now);
      return stored && toInvitation(stored);
    },
    claim: (hash, now, leaseMs) =>
      root.transaction(() => {
        const stored = unexpired(hash, now);
        if (stored === undefined || stored.claimedUntil > now) return undefined;
        byHash.put(hash, { ...stored, claimedUntil: now + leaseMs });
        return toInvitation(stored);
      }),
    async remove(hash) {
      await root.transaction(() => removeStored(hash));
      await root.flushed;
    },
    async select(isWanted) {
      return [...byHash.getRange()].flatMap(({ value }) =>
        isWanted(value.address.canonical)
          ? [{ ...toInvitation(value), expiresAt: value.expiresAt }]
          : [],
      );
    },
    async discard(isUnwanted) {
      await root.transaction(() => {
        for (const { key, value } of [...byHash.getRange()])
          if (isUnwanted(value.address.canonical)) removeStored(key);
      });
      await root.flushed;
    },
    async clean(now) {
      const expired = [...byExpiry.getKeys({ end: [now + 1, ''] })];
      if (expired.length > 0)
        await root.transaction(() => {
          for (const [, hash] of expired) removeStored(hash);
        });
    },
  };
}
