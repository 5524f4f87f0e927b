// Rewrites the embedded stores at the start of a service, if something was erased from them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Log, logProgress } from '../observe/log.ts';
import type { StoreSettings } from '../store/engine.ts';
import { COPY, EMBEDDED_STORES, ERASED } from '../store/private.ts';

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
