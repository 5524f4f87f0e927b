// What is done with one subgraph, or with the graph: check, publish, remove, roll back.

import type { SubgraphEntry } from '@partner-loyalty/gateway/graph/graph.ts';
import { requireServed } from './ask.ts';
import { type Current, changeGraph, checkChange, fromServed, type Plan } from './change.ts';
import { entryOf, isPublished } from './entry.ts';
import { subgraphOf, versionBefore } from './history.ts';
import { digestOf } from './proposals.ts';
import { contentOf } from './publish/content.ts';
import { type Publisher, type Registry, type RequestOf, type Run, refuse } from './request.ts';

export const check: Run<'check'> = (registry, publisher, request) =>
  fromServed(registry.store, async ({ version, before }) => {
    requireInit(publisher, version, request.init);
    const plan = await planOf(registry, before, request);
    return checkChange(registry, publisher, plan, request.strict);
  });

export const publish: Run<'publish'> = (registry, publisher, request) =>
  changeGraph(registry, publisher, async ({ version, before }) => {
    requireInit(publisher, version, request.init);
    const plan = await planOf(registry, before, request);
    const { entry, sdl } = plan.step;
    if (isPublished(before, entry, sdl)) return { result: { version, unchanged: true } };
    const { force, approve, commit, message } = request;
    return { ...plan, force, approve, about: { commit, message } };
  });

/** Otherwise, a wrong store would get a graph of its own. */
function requireInit({ kind }: Publisher, version: number, init = false): void {
  if (kind === 'operator' && version === 0 && !init)
    refuse(
      'this store holds no published graph: if it is the right one (MONGODB_URL or DATA_DIR), add --init; to publish through a service, give --registry URL',
    );
}

/** The plan to publish the schema of a request. */
async function planOf(
  registry: Registry,
  before: Current['before'],
  request: RequestOf<'check'> | RequestOf<'publish'>,
) {
  const { name, sdl, file, url } = request;
  const names = before.subgraphs.map((each) => each.name);
  const others = names.filter((other) => other !== name);
  const removed = names.includes(name) ? undefined : await removedEntry(registry, name);
  const entry = entryOf(before.subgraphs, request, removed);
  return {
    change: `publish ${name}`,
    step: { kind: 'subgraph', before, entry, sdl, file, removed } as const,
    digest: digestOf(['publish', name, entry.url, entry.batching, entry.codes], sdl),
    ask: () => requireServed(registry, entry, sdl, { givenUrl: url, others }),
  } satisfies Plan;
}

/** The entry of a subgraph when it was last taken out of the graph: its secret may be left. */
async function removedEntry({ store }: Registry, name: string): Promise<SubgraphEntry | undefined> {
  for (const { version, change } of await store.history()) {
    if (change !== `remove ${name}` && subgraphOf(change) !== undefined) continue;
    const former = await store.version(version - 1);
    const entry = former?.subgraphs.find((each) => each.name === name);
    if (entry !== undefined) return entry;
  }
  return undefined;
}

export const remove: Run<'remove'> = (registry, publisher, { name, force }) =>
  changeGraph(registry, publisher, async ({ before }) => {
    if (!before.subgraphs.some((entry) => entry.name === name))
      refuse(`there is no subgraph ${JSON.stringify(name)}`);
    const digest = digestOf(['remove', name], before.schemas[name]);
    const step = { kind: 'removal', before, name } as const;
    return { change: `remove ${name}`, step, digest, force };
  });

export const rollback: Run<'rollback'> = (registry, publisher, request) => {
  const { store } = registry;
  const { name, version: target, force } = request;
  return changeGraph(registry, publisher, async ({ version, before }) => {
    if (version === 0) refuse('nothing is published yet');
    if (name !== undefined) return rollbackOf(registry, before, name);
    const to = target ?? version - 1;
    if (to === version) refuse(`version ${version} is the newest already`);
    const step = { kind: 'content', before, after: await versionOf(store, to) } as const;
    return { change: `rollback to ${to}`, step, digest: digestOf(['rollback', to]), force };
  });
};

/** The plan to give a subgraph what it had before its last change that was not rolled back. */
async function rollbackOf({ store }: Registry, before: Current['before'], name: string) {
  const earlier = versionBefore(name, await store.history());
  const former = earlier === undefined ? undefined : await versionOf(store, earlier);
  const entry = former?.subgraphs.find((each) => each.name === name);
  const sdl = former?.schemas[name];
  if (former === undefined || entry === undefined || sdl === undefined)
    return refuse(
      `${name} has nothing earlier to go back to: loyalty supergraph remove ${name} takes it out of the graph`,
    );
  const file = `the schema of ${name} in version ${earlier}`;
  const step = { kind: 'subgraph', before, entry, sdl, file, approved: former } as const;
  const digest = digestOf(['rollback', name, entry], sdl);
  return { change: `rollback ${name}`, step, digest };
}

async function versionOf(store: Registry['store'], version: number) {
  if (version > (await store.latest())) refuse(`there is no version ${version}`);
  return contentOf(store, version);
}
