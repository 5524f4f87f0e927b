// A process that moves amounts between accounts, and prints a line for each move that is stored.
import { openLmdbStore } from '../src/store/engine/store.lmdb.ts';
import { openMongoStore } from '../src/store/engine/store.mongo.ts';
import { table } from '../src/store/engine/store.ts';

export const ACCOUNTS = table<{ amount: number }>('accounts');
export const MOVES = table<{ by: string }>('moves');
export const TABLES = [ACCOUNTS, MOVES];
const COUNT = 5;

export function openAccounts({ mongodbUrl, dataDir }: { mongodbUrl?: string; dataDir: string }) {
  return mongodbUrl === undefined
    ? openLmdbStore(dataDir, 'sandbox', 'members', TABLES)
    : openMongoStore(mongodbUrl, 'sandbox', 'members', TABLES);
}

/** The keys of all accounts. */
export const KEYS = Array.from({ length: COUNT }, (_, at) => ['account', at]);

async function moveForEver(settings: string, name: string): Promise<void> {
  const store = await openAccounts(JSON.parse(settings));
  for (let move = 0; ; move += 1) {
    const [from = [], to = []] = [KEYS[move % COUNT], KEYS[(move * 3 + 1) % COUNT]];
    await store.transact((tx) => {
      tx.put(MOVES, [name, move], { by: name });
      if (from === to) return;
      const [paid, got] = [tx.get(ACCOUNTS, from)?.amount ?? 0, tx.get(ACCOUNTS, to)?.amount ?? 0];
      tx.put(ACCOUNTS, from, { amount: paid - 1 });
      tx.put(ACCOUNTS, to, { amount: got + 1 });
    });
    console.log(move);
  }
}

const [, program, settings, name = ''] = process.argv;
if (settings !== undefined && program?.endsWith('accounts.ts')) void moveForEver(settings, name);
