// Opens the store of what is counted, and verifies it, on the engine that is set.

import { openStore } from '@partner-loyalty/runtime/store/engine/open.ts';
import { verifyTable } from '@partner-loyalty/runtime/store/engine/verify.ts';
import type { StoreSettings } from '@partner-loyalty/runtime/store/engine.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import type { UsageStore } from './store.ts';
import { createUsageStore, TABLES } from './tables.ts';

/** Rejects if the store cannot be opened or belongs to the other environment. */
export async function openUsageStore(settings: StoreSettings): Promise<UsageStore> {
  return createUsageStore(await openStore(settings, 'usage', TABLES));
}

/** Reports which records cannot be read, and resolves with the number of the others. */
export async function verifyUsage(
  settings: StoreSettings,
  { report }: Inspection,
): Promise<number> {
  const store = await openStore(settings, 'usage', TABLES);
  try {
    let count = 0;
    // Keys begin with a day, an hour, a key or a partner.
    for (const each of TABLES)
      count += await verifyTable(store, each, ([what], problem) =>
        report(`usage of ${what}`, problem),
      );
    return count;
  } finally {
    await store.close();
  }
}
