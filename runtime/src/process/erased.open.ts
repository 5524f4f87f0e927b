// Notes that something was erased from an embedded store, which the next start then rewrites.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Log, logProgress } from '../observe/log.ts';
import type { StoreSettings } from '../store/engine.ts';
import { COPY, EMBEDDED_STORES, ERASED, type StoreName } from '../store/private.ts';

/** Call it before something is erased: the file of an embedded store keeps it until a rewrite. */
export async function noteErasure(
  { mongodbUrl, dataDir }: StoreSettings,
  store: StoreName,
): Promise<void> {
  if (mongodbUrl !== undefined) return;
  const { markErased } = await import('../store/rewrite.lmdb.ts');
  markErased(dataDir, store);
}

/**
 * Clears what was erased from the files of the embedded stores, unless another process has one
 * open. Call it before a store is opened. A failure is logged, and leaves the stores as they were.
 */
export async function clearErased(
  { mongodbUrl, dataDir, environment }: StoreSettings,
  log: Log,
): Promise<void> {
  if (mongodbUrl !== undefined || !isAnyLeft(dataDir)) return;
  // A process that has to wait for another one receives no signal meanwhile, so this comes first.
  log.info({}, 'clearing what was erased from the stores');
  log.flush();
  // LMDB takes a while to load, and there is rarely something to rewrite.
  const { rewriteErased } = await import('../store/rewrite.lmdb.ts');
  const progress = logProgress(log, 'rewriting a store');
  try {
    const rewritten = await rewriteErased(dataDir, environment, progress);
    if (rewritten === undefined)
      log.info({ reason: 'another process has a store open' }, 'stores not rewritten');
    for (const { store, bytes } of rewritten ?? []) log.info({ store, bytes }, 'store rewritten');
  } catch (err) {
    log.error({ err }, 'stores not rewritten');
  }
}

function isAnyLeft(dataDir: string): boolean {
  return EMBEDDED_STORES.some((store) =>
    [COPY, ERASED].some((entry) => existsSync(join(dataDir, store, entry))),
  );
}
