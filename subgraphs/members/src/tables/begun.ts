// What client addresses have begun and not finished: the oldest go first when there are too many.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';

/** Times are in milliseconds since 1970. */
type One = { id: string; expiresAt: number };
/** What a client address has begun, the oldest first. */
type Begun = { client: string; open: One[]; count: number; until: number };

export const begunTable = (name: string): TableDefinition<Begun> => ({
  name,
  id: 'client',
  orders: ['count', 'until'],
});

type BegunParts = {
  definition: TableDefinition<Begun>;
  most: { ofClient: number; ofAll: number };
  /** How many all addresses have. */
  total(): MaybePromise<number>;
  remove(id: string): Promise<void>;
};

export async function openBegun(open: OpenTable, { definition, most, total, remove }: BegunParts) {
  const begun = await open(definition);

  /** Replaces what a client address has begun, and removes what is missing then. */
  async function change(client: string, next: (still: One[]) => One[]): Promise<void> {
    let gone: One[] = [];
    await begun.update(client, (before) => {
      const now = Date.now();
      const still = (before?.open ?? []).filter(({ expiresAt }) => expiresAt > now);
      const open = next(still);
      gone = still.filter((one) => !open.includes(one));
      const until = open.at(-1)?.expiresAt;
      return until === undefined ? undefined : { client, open, count: open.length, until };
    });
    for (const { id } of gone) await remove(id);
  }

  /** The client address with the most. */
  async function fullest(): Promise<Begun | undefined> {
    let found: Begun | undefined;
    let [low, high] = [1, most.ofClient];
    while (low <= high) {
      const middle = Math.floor((low + high) / 2);
      const [one] = await begun.range('count', middle, 1);
      if (one === undefined) high = middle - 1;
      else [found, low] = [one, one.count + 1];
    }
    return found;
  }

  return {
    /** Takes the place of the oldest of the address, or of the address with most. */
    async add(client: string, added: One): Promise<void> {
      const full = (await total()) >= most.ofAll ? await fullest() : undefined;
      if (full !== undefined) await change(full.client, (still) => still.slice(1));
      await change(client, (still) => [...still.slice(1 - most.ofClient), added]);
    },
    /** Removes one that is finished. */
    finish: (client: string, id: string) =>
      change(client, (still) => still.filter((one) => one.id !== id)),
    clean: (now: number) => begun.removeUntil('until', now),
  };
}
