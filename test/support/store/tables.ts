// Opens small tables for tests, without the store that has them.
import { openStore } from '@partner-loyalty/runtime/store/engine/open.ts';
import type { StoreSettings } from '@partner-loyalty/runtime/store/engine.ts';
import type { OpenTable } from '@partner-loyalty/runtime/store/table.ts';
import { storedTable, tablesIn } from '@partner-loyalty/runtime/store/tables.ts';

export type OpenedTables = { open: OpenTable; close(): Promise<void> };

export async function openTables(
  settings: Pick<StoreSettings, 'dataDir' | 'mongodbUrl'>,
  definitions: readonly { name: string; orders?: readonly string[] }[],
): Promise<OpenedTables> {
  const sandbox = { mongodbUrl: undefined, ...settings, environment: 'sandbox' } as const;
  const store = await openStore(sandbox, 'members', definitions.map(storedTable));
  return { open: tablesIn(store), close: store.close };
}
