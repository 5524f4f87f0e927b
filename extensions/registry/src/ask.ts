// Checks that the subgraph to publish is running and has the schema.
import { addressOf } from '@partner-loyalty/gateway/graph/connections.ts';
import type { SubgraphEntry } from '@partner-loyalty/gateway/graph/graph.ts';
import { openSecrets } from '@partner-loyalty/gateway/graph/secrets.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import {
  GATEWAY_SUBGRAPH,
  isBuiltIn,
  settingsOfSubgraph,
  variableOf,
} from '@partner-loyalty/runtime/settings/subgraphs.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { allowedHosts } from '@partner-loyalty/runtime/transport/hosts.ts';
import { oneSecret } from '@partner-loyalty/runtime/transport/secrets.ts';
import { askSubgraph } from './publish/asked.ts';
import type { Ran } from './publish/assess.ts';
import { committedContent } from './publish/content.ts';
import { missingFrom } from './publish/missing.ts';
import { type Registry, refuse } from './request.ts';

/**
 * Throws a Refusal if the subgraph cannot be reached, is not healthy or lacks a field of `sdl`, or
 * if its secret is missing or shared. A subgraph that runs in the gateways' process is not asked,
 * unless it has a URL. Resolves with lines for the publisher.
 */
export async function requireServed(
  { settings, store, ran }: { settings: Settings; store: Registry['store'] | undefined; ran?: Ran },
  entry: SubgraphEntry,
  sdl: string,
  { givenUrl, others }: { givenUrl: string | undefined; others: readonly string[] },
): Promise<string[]> {
  const { name } = entry;
  const target = targetOf(settings, entry, givenUrl, others);
  if (target === undefined) return missingFromRelease(name, sdl);
  const { url, isSet, secret } = target;
  const stored =
    secret === undefined && store !== undefined
      ? openSecrets(name, { store, settings, log: createLog('silent') })
      : undefined;
  await stored?.read();
  const secrets = stored ?? oneSecret(secret);
  if (secrets.first() === undefined)
    refuse(
      `${name} has no secret: make one with loyalty supergraph secret rotate ${name}, or set ${variableOf(name, 'secret')}`,
    );
  const allows = isSet ? undefined : allowedHosts(settings);
  const asked = askSubgraph({ entry, url, sdl, secrets, allows, ran });
  const fault = await asked.finally(() => stored?.close());
  if (fault !== undefined) refuse(`${name} at ${url} ${fault}`);
  return [];
}

/** Undefined if the subgraph runs in the gateways' process. */
function targetOf(
  settings: Settings,
  { name, url }: SubgraphEntry,
  givenUrl: string | undefined,
  others: readonly string[],
) {
  if (name === GATEWAY_SUBGRAPH) return undefined;
  const isOurs = isBuiltIn(name);
  const target = addressOf(settings, { name, url: isOurs ? givenUrl : url });
  if (target === undefined && !isOurs)
    refuse(`${name} needs a URL: give --url, or set ${variableOf(name, 'url')}`);
  if (target !== undefined && isOurs && target.secret === undefined)
    refuse(`SUBGRAPH_SECRET must be set: it signs the requests to ${name}`);
  if (!isOurs && target?.secret !== undefined)
    refuseSharedSecret(settings, name, target.secret, others);
  return target;
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
