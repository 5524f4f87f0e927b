// Opens tracing if the settings ask for it.

import type { Log } from '../observe/log.ts';
import type { Tracing } from '../observe/tracing/trace.ts';
import { readEnv } from '../settings/settings.ts';
import type { ProcessName, Settings } from '../settings/table.ts';
import { ownVersion } from '../version.ts';
import type { Lifecycle } from './lifecycle.ts';

/**
 * Undefined unless OTEL_EXPORTER_OTLP_ENDPOINT is set and OTEL_SDK_DISABLED is not `true`. The
 * lifecycle closes it: open it before what it traces.
 */
export async function openTracing(
  settings: Pick<Settings, 'otlpEndpoint'>,
  process: ProcessName,
  { lifecycle, log }: { lifecycle: Pick<Lifecycle, 'opened'>; log: Pick<Log, 'outage'> },
): Promise<Tracing | undefined> {
  const env = readEnv();
  if (settings.otlpEndpoint === undefined || env.OTEL_SDK_DISABLED === 'true') return undefined;
  const { createTracing } = await import('../observe/tracing/otel.ts');
  const serviceName = process === 'all' ? 'partner-loyalty' : `partner-loyalty-${process}`;
  const tracing = createTracing({ serviceName, version: ownVersion(), env, log });
  lifecycle.opened('tracing', tracing.close);
  return tracing;
}
