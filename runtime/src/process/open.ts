// What each process of the service opens first.
import { createCaches } from '../cache/caches.ts';
import type { Log } from '../observe/log.ts';
import { createMetrics } from '../observe/metrics.ts';
import type { Settings } from '../settings/table.ts';
import { clearErased } from './erased.open.ts';
import type { Lifecycle } from './lifecycle.ts';
import { bindPorts } from './ports.ts';
import { openTracing } from './tracing.ts';

/** The lifecycle closes what this function opens. */
export async function openProcess(
  settings: Settings,
  name: Parameters<typeof openTracing>[1],
  { lifecycle, log }: { lifecycle: Lifecycle; log: Log },
) {
  const metrics = createMetrics(settings.commit);
  const isPublic = name === 'all' || name === 'gateway';
  const ports = await bindPorts(settings, { isPublic, lifecycle, metrics, log });
  await clearErased(settings, log);
  const tracing = await openTracing(settings, name, { lifecycle, log });
  return { settings, lifecycle, log, metrics, ports, tracing, caches: createCaches() };
}
