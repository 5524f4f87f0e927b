// Asks a subgraph, as a gateway would, for its health and its schema before it is published.
import { randomUUID } from 'node:crypto';
import type { SubgraphEntry } from '@partner-loyalty/gateway/graph/graph.ts';
import { isJsonObject } from '@partner-loyalty/runtime/input.ts';
import { noticing } from '@partner-loyalty/runtime/observe/log.ts';
import type { AllowsHost } from '@partner-loyalty/runtime/transport/hosts.ts';
import type { SubgraphSecrets } from '@partner-loyalty/runtime/transport/secrets.ts';
import type { Caller, Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { missingFromRunning, type Ran } from './assess.ts';
import { listed } from './missing.ts';

/** The size of the response to `_service`. */
const MAX_SCHEMA_BYTES = 5 * 1024 * 1024;
const SILENT = { subgraphCall() {}, circuit() {} };

/**
 * What keeps a subgraph from serving `sdl` at `url`, in a few words, with the reason if it is
 * known; undefined if it answers single operations and, with batching, a batch, and has all of
 * `sdl`.
 */
export async function askSubgraph(candidate: {
  entry: SubgraphEntry;
  url: string;
  sdl: string;
  secrets: SubgraphSecrets;
  /** Which addresses may be called; all if it is undefined. */
  allows: AllowsHost | undefined;
  ran?: Ran | undefined;
}): Promise<string | undefined> {
  const { entry, sdl, ran } = candidate;
  let reason = '';
  const log = noticing((text) => {
    reason ||= ` (${text})`;
  });
  // Loading it takes a while.
  const { createHttpTransport } = await import('@partner-loyalty/runtime/transport/client.ts');
  const transport = createHttpTransport({
    ...{ ...entry, ...candidate, log, metrics: SILENT },
    maxAnswerBytes: MAX_SCHEMA_BYTES,
  });
  try {
    const requestId = `publish-${randomUUID()}`;
    const fault = await faultOfSubgraph(transport, sdl, requestId, ran);
    if (fault !== undefined) return fault + reason;
    if (!entry.batching) return undefined;
    reason = '';
    const isTaken = await takesBatches(transport, requestId);
    // What failed as a batch has been asked one by one, so only the log shows it.
    return isTaken && reason === ''
      ? undefined
      : `does not answer a batch of ${BATCH} operations as docs/teams/protocol.md says: correct this, or publish it with --no-batching${reason}`;
  } finally {
    await transport.close();
  }
}

const BATCH = 100;

/** Whether each operation of a batch gets its own response, for IDs that nobody has. */
async function takesBatches(transport: Pick<Transport, 'execute'>, requestId: string) {
  const [partnerId, memberId] = [`nobody-${randomUUID()}`, `nobody-${randomUUID()}`];
  const callers: Caller[] = [
    { kind: 'partner', partnerId },
    { kind: 'member', memberId },
    { kind: 'member', memberId, partnerId },
  ];
  const aliases = Array.from({ length: BATCH }, (_, place) => `a${place}`);
  const responses = await Promise.all(
    aliases.map((alias, place) => {
      const caller = callers[place % callers.length] ?? { kind: 'service' };
      return transport.execute({ query: `{${alias}:__typename}`, caller, requestId });
    }),
  );
  return responses.every(
    ({ data, errors }, place) =>
      errors === undefined && typeof data?.[aliases[place] ?? ''] === 'string',
  );
}

/**
 * What keeps a subgraph from serving `sdl`, in a few words; undefined if it is healthy and its
 * schema has every field and argument of `sdl`.
 */
export async function faultOfSubgraph(
  transport: Pick<Transport, 'execute'>,
  sdl: string,
  requestId: string,
  ran?: Ran,
): Promise<string | undefined> {
  const health = await ask(transport, '{__typename}', requestId);
  if (typeof health?.__typename !== 'string') return 'does not answer {__typename}';
  const running = await runningSdl(transport, requestId);
  if (running === undefined) return 'does not answer {_service{sdl}}';
  const found = await missingFromRunning(running, sdl, ran);
  if ('fault' in found) return `answers {_service{sdl}} ${found.fault}`;
  return found.missing.length === 0 ? undefined : `lacks ${listed(found.missing)}`;
}

/** The schema that a subgraph answers; undefined if it answers none. */
export async function runningSdl(transport: Pick<Transport, 'execute'>, requestId: string) {
  const data = await ask(transport, '{_service{sdl}}', requestId);
  const sdl = isJsonObject(data?._service) ? data._service.sdl : undefined;
  return typeof sdl === 'string' ? sdl : undefined;
}

async function ask(transport: Pick<Transport, 'execute'>, query: string, requestId: string) {
  return (await transport.execute({ query, caller: { kind: 'service' }, requestId })).data;
}
