// Measures what caches keep for heavy documents beside what they say, as a JSON line for each kind.
// Usage: weigh.ts SLACKBYTES.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMembers, openMembersStore } from '@partner-loyalty/members';
import { type Caches, createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createExecutor } from '@partner-loyalty/runtime/subgraph/executor.ts';
import type { Execute } from '@partner-loyalty/runtime/transport/deadline.ts';
import type { SubgraphRequest, Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { createStandings, openStandingsStore } from '@partner-loyalty/standings';
import { selectOperation } from '../../gateway/src/document/document.ts';
import { createDocuments } from '../../gateway/src/document/documents.ts';
import { openSurface } from '../../gateway/src/execute/surface.ts';
import { HEAVY, type HeavyRequest } from '../support/cases/heavy.ts';
import { temporaryFolder } from '../support/folder.ts';
import { MEMBERS } from '../support/service/testdata.ts';

/** How many different documents of each kind are kept. */
const ROUNDS = 10;
/** More than all of them take, so that nothing is pushed out. */
const UNBOUNDED = 8 * 1024 ** 3;
const CALLER = { kind: 'partner', partnerId: 'alpha' } as const;
const REQUEST = { caller: CALLER, requestId: 'r' };

const supergraph = readFileSync(
  join(import.meta.dirname, '../../gateway/supergraph.graphql'),
  'utf8',
);
const folder = temporaryFolder();
const settings = { dataDir: folder.path, environment: 'sandbox' } as const;
const members = await openMembersStore({ ...settings } as Parameters<typeof openMembersStore>[0]);
const standings = await openStandingsStore({ ...settings } as Parameters<
  typeof openStandingsStore
>[0]);
await members.importMembers(MEMBERS);
const subgraphs = {
  members: createMembers(members, { baseAddress: 'http://localhost:4000', wake: () => {} }),
  standings: createStandings(standings),
};

// The first kind comes twice, since the code itself takes memory when it first runs.
for (const [kind, make] of [...Object.entries(HEAVY).slice(0, 1), ...Object.entries(HEAVY)]) {
  const made = Array.from({ length: ROUNDS + 2 }, (_, round) => make(round));
  const requests: HeavyRequest[] = JSON.parse(JSON.stringify(made)); // V8 built them piece by piece.
  let weights = await measure(requests);
  // What code takes when it first runs is not taken again; what a cache keeps is.
  if (Object.values(weights).some(isHeavier)) weights = await measure(requests);
  console.log(JSON.stringify({ kind, ...weights }));
}
await members.close();
await standings.close();
folder.remove();

type Use<T> = (input: T) => unknown;
type Weight = { kept: number; said: number };

function isHeavier({ kept, said }: Weight): boolean {
  return kept > said + Number(process.argv[2]);
}

async function measure(requests: readonly HeavyRequest[]): Promise<Record<string, Weight>> {
  const warmUp = requests.slice(0, 2);
  const documents = await weigh((caches) => documentsCache(caches), warmUp, requests.slice(2));
  const plans = await weigh((caches) => planCache(caches), warmUp, requests.slice(2));
  const sent = await requestsFor(requests);
  const first = sent.slice(0, 4);
  const operations = await weigh((caches) => executors(caches), first, sent);
  return { documents, plans, operations };
}

/** What the heap grows by while `use` runs for each input, beside what the caches say. */
async function weigh<T>(
  open: (caches: Caches) => Use<T> | Promise<Use<T>>,
  warmUp: readonly T[],
  inputs: readonly T[],
): Promise<Weight> {
  const caches = createCaches(UNBOUNDED);
  const use = await open(caches);
  for (const input of warmUp) await use(JSON.parse(JSON.stringify(input)));
  await heapUsed();
  const before = { heap: await heapUsed(), said: caches.bytes() };
  for (const input of inputs) await use(JSON.parse(JSON.stringify(input)));
  const kept = (await heapUsed()) - before.heap;
  const weight = { kept, said: caches.bytes() - before.said };
  // Finalizers run after one collection, and the next collects what they let go of.
  return isHeavier(weight) ? { ...weight, kept: (await heapUsed()) - before.heap } : weight;
}

async function documentsCache(caches: Caches) {
  const documents = createDocuments(caches, { documentCache: () => {} });
  const nowhere: Transport = {
    execute: () => ({ data: null }),
    ready: async () => {},
    close: async () => {},
  };
  const unused = createCaches(UNBOUNDED);
  const surface = await openSurface(
    'partner',
    supergraph,
    { gateway: nowhere, members: nowhere, standings: nowhere },
    unused,
  );
  return ({ query }: HeavyRequest) => {
    const document = documents.read(query);
    for (const operation of document.operations) surface.prepare(document, operation);
    documents.keep(document);
  };
}

type Sent = { name: 'members' | 'standings'; request: SubgraphRequest };

async function planCache(caches: Caches, record: (sent: Sent) => void = () => {}) {
  const documents = createDocuments(createCaches(1), { documentCache: () => {} });
  const executor = createExecutors(createCaches(1));
  const recording = (name: Sent['name']): Transport => ({
    execute: (request) => {
      record({ name, request });
      return executor[name](request);
    },
    ready: async () => {},
    close: async () => {},
  });
  const transports = {
    gateway: recording('members'),
    members: recording('members'),
    standings: recording('standings'),
  };
  const surface = await openSurface('partner', supergraph, transports, caches);
  return async ({ query, operationName, variables }: HeavyRequest) => {
    const document = documents.read(query);
    const operation = surface.prepare(document, selectOperation(document, operationName));
    await surface.execute(operation, { variables, ...REQUEST });
  };
}

/** The requests that subgraphs get. */
async function requestsFor(requests: readonly HeavyRequest[]): Promise<Sent[]> {
  const sent: Sent[] = [];
  const execute = await planCache(createCaches(1), (each) => void sent.push(structuredClone(each)));
  for (const each of requests) await execute(each);
  return sent;
}

function createExecutors(caches: Caches): Record<'members' | 'standings', Execute> {
  const log = createLog('silent');
  return {
    members: createExecutor(subgraphs.members, log, caches),
    standings: createExecutor(subgraphs.standings, log, caches),
  };
}

function executors(caches: Caches) {
  const executor = createExecutors(caches);
  return ({ name, request }: Sent) => executor[name](request);
}

async function heapUsed(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 20));
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
