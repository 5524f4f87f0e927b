// How large the embedded stores are, and how much room their disk has left, for the metrics.
import { existsSync, statSync } from 'node:fs';
import type { Metrics } from '../observe/metrics.ts';
import type { Readings } from '../observe/series.ts';
import type { StoreSettings } from '../store/engine.ts';
import { EMBEDDED_STORES } from '../store/private.ts';

/** Measures the stores in the data folder whenever metrics are read. None are on MongoDB. */
export async function watchSizes(
  { mongodbUrl, dataDir }: Pick<StoreSettings, 'mongodbUrl' | 'dataDir'>,
  metrics: Pick<Metrics, 'storeBytes' | 'storeRoom'>,
): Promise<void> {
  if (mongodbUrl !== undefined) return;
  // LMDB takes a while to load.
  const { fileOf } = await import('../store/file.lmdb.ts');
  const { roomOf } = await import('../store/health.lmdb.ts');
  const readings = (measure: (file: string) => number): Readings =>
    EMBEDDED_STORES.map((store) => ({ store, file: fileOf(dataDir, store) }))
      .filter(({ file }) => existsSync(file))
      .map(({ store, file }) => [{ store }, measure(file)]);
  metrics.storeBytes(() => readings((file) => statSync(file).size));
  metrics.storeRoom(() => readings(roomOf));
}
