// What client addresses have begun and not finished: the oldest go first when there are too many.
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';

/** Times are in milliseconds since 1970. */
type One = { id: string; expiresAt: number };
/** What a client address has begun, the oldest first. */
type Begun = {
  client: string;
  open: One[];
  /** The lower, the more there are; of as many, the older. */
  rank: number;
  until: number;
};

export const begunTable = (name: string): TableDefinition<Begun> => ({
  name,
  id: 'client',
  orders: ['rank', 'until'],
});

type BegunParts = {
  definition: TableDefinition<Begun>;
  /** `ofClient` is below 900. */
  most: { ofClient: number; ofAll: number };
  /** How many all addresses have. */
  total(): MaybePromise<number>;
  remove(id: string): Promise<void>;
  /** Removes those that expired until then. */
  removeUntil(now: number): Promise<void>;
};

export async function openBegun(open: OpenTable, { definition, most, ...begunBy }: BegunParts) {
  const begun = await open(definition);

  /** Replaces what a client address has begun, and removes what is missing then. */
  async function change(client: string, next: (still: One[]) => One[]): Promise<void> {
    let gone: One[] = [];
    await begun.update(client, (before) => {
      const now = Date.now();
      const still = (before?.open ?? []).filter(({ expiresAt }) => expiresAt > now);
      const open = next(still);
      gone = still.filter((one) => !open.some(({ id }) => id === one.id));
      const [oldest] = open;
      if (oldest === undefined) return undefined;
      const rank = (most.ofClient - open.length) * 1e13 + oldest.expiresAt;
      return { client, open, rank, until: Math.max(...open.map((one) => one.expiresAt)) };
    });
    for (const { id } of gone) await begunBy.remove(id);
  }

  const isFull = async () => (await begunBy.total()) >= most.ofAll;

  async function clean(now: number): Promise<void> {
    await begunBy.removeUntil(now);
    await begun.removeUntil('until', now);
  }

  return {
    /** Takes the place of the oldest of the address, or of the address with most. */
    async add(client: string, added: One): Promise<void> {
      if (await isFull()) await clean(Date.now());
      // More than once if those of that address have expired meanwhile.
      while (await isFull()) {
        const [first] = await begun.range('rank', 0, 1);
        if (first === undefined) break;
        await change(first.client, (still) => still.slice(1));
      }
      await change(client, (still) => [...still.slice(1 - most.ofClient), added]);
    },
    /** Removes one that is finished, or lets it expire by then. */
    finish: (client: string, id: string, expiresAt?: number) =>
      change(client, (still) => {
        const ended = expiresAt === undefined ? [] : [{ id, expiresAt }];
        return still.flatMap((one) => (one.id === id ? ended : [one]));
      }),
    clean,
  };
}
