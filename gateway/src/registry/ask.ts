// Checks that the subgraph to publish is running and has the schema.
import { randomUUID } from 'node:crypto';
import { createLog, type Log } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import {
  GATEWAY_SUBGRAPH,
  OWN_SUBGRAPHS,
  settingsOfSubgraph,
  variableOf,
} from '@partner-loyalty/runtime/settings/subgraphs.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { committedContent } from '../graph/content.ts';
import type { SubgraphEntry } from '../graph/graph.ts';
import { faultOfSubgraph, missingFrom } from '../publish/asked.ts';
import { refuse } from './request.ts';

/** Where the gateways reach a subgraph, and what signs the requests to it. */
type Target = { url: string; secret: string };

/**
 * Throws a Refusal if the subgraph cannot be reached, is not healthy or lacks a field of `sdl`, or
 * if its secret is missing or shared. A subgraph that the gateways' process carries is not asked,
 * unless it has a URL. Resolves with lines for the publisher.
 */
export async function askSubgraph(
  settings: Settings,
  entry: SubgraphEntry,
  sdl: string,
  { givenUrl, others }: { givenUrl: string | undefined; others: readonly string[] },
): Promise<string[]> {
  const { name } = entry;
  const target = targetOf(settings, entry, givenUrl, others);
  if (target === undefined) return missingFromRelease(name, sdl);
  let reason = '';
  const log = noticing((text) => {
    reason = ` (${text})`;
  });
  // Loading it takes a while.
  const { createHttpTransport } = await import('@partner-loyalty/runtime/transport/client.ts');
  const transport = createHttpTransport({ ...entry, ...target, log, metrics: createMetrics() });
  try {
    const fault = await faultOfSubgraph(transport, sdl, `publish-${randomUUID()}`);
    if (fault !== undefined) refuse(`${name} at ${target.url} ${fault}${reason}`);
    return [];
  } finally {
    await transport.close();
  }
}

/** Undefined if the gateways' process carries the subgraph. */
function targetOf(
  settings: Settings,
  { name, url: publishedUrl }: SubgraphEntry,
  givenUrl: string | undefined,
  others: readonly string[],
): Target | undefined {
  if (name === GATEWAY_SUBGRAPH) return undefined;
  const own = settingsOfSubgraph(settings, name);
  const isOurs = OWN_SUBGRAPHS.some((each) => each === name);
  const url = own.url ?? givenUrl ?? (isOurs ? undefined : publishedUrl);
  if (url === undefined) {
    if (isOurs) return undefined;
    return refuse(`${name} needs a URL: give --url, or set ${variableOf(name, 'url')}`);
  }
  const { secret } = own;
  if (secret === undefined) {
    const variable = isOurs ? 'SUBGRAPH_SECRET' : variableOf(name, 'secret');
    return refuse(`${variable} must be set: it signs the requests to ${name}`);
  }
  if (!isOurs) refuseSharedSecret(settings, name, secret, others);
  return { url, secret };
}

/** With a shared secret, one subgraph could sign requests to the other as the gateway does. */
function refuseSharedSecret(
  settings: Settings,
  name: string,
  secret: string,
  others: readonly string[],
): void {
  const taken = others.flatMap((other) => {
    const { secret: current, secretOld } = settingsOfSubgraph(settings, other);
    return [current, secretOld];
  });
  if ([...taken, settings.subgraphSecret, settings.subgraphSecretOld].includes(secret))
    refuse(`${variableOf(name, 'secret')} must differ from the secrets of other subgraphs`);
}

function missingFromRelease(name: string, sdl: string): string[] {
  const missing = missingFrom(committedContent().schemas[name] ?? '', sdl);
  return missing.length === 0
    ? []
    : [`${name} of this release lacks ${missing.join(', ')}: these fail until a release has them`];
}

/** A log that reports why a request failed. */
function noticing(notice: (text: string) => void): Log {
  const write: Log['warn'] = ({ reason, status, code, err }, message) => {
    const cause = err instanceof Error ? err.message : undefined;
    // A status of 0 means that there was no response.
    const facts = [reason, code, status || undefined, cause].filter((fact) => fact !== undefined);
    notice(facts.length > 0 ? facts.join(', ') : message);
  };
  return { ...createLog('silent'), warn: write, error: write, fatal: write, outage: write };
}
