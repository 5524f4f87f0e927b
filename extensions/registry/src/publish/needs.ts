// Finds what a change of one subgraph touches that is not its own, which others have to approve.
import { isDeepStrictEqual as isEqual } from 'node:util';
import type { SubgraphEntry } from '@partner-loyalty/gateway/graph/graph.ts';
import type { Need } from '@partner-loyalty/gateway/graph/tables.ts';
import { isBuiltIn } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import type { GraphContent } from './content.ts';
import { type JoinedGraph, joinedGraph, type Part, selectedIn } from './joined.ts';

const ROOTS = new Set(['Query', 'Mutation', 'Subscription']);

type Past = { removed?: SubgraphEntry | undefined; approved?: GraphContent };

/** A need with the subgraphs whose owners it concerns. */
type Found = Pick<Need, 'rule' | 'what'> & { concerned: string[] };

/**
 * What needs approval if `after` replaces `before`, in which only `publisher` has changed.
 * `removed` is what it was when it was taken out of the graph, if it is not in `before`. If it goes
 * back to what it was in `approved`, and nothing else has changed since, nothing needs approval.
 */
export function needsOf(
  before: GraphContent,
  after: GraphContent,
  publisher: string,
  { removed, approved }: Past = {},
): Need[] {
  // What was taken out of the graph is not back without those who have its parts since.
  const isThere = before.subgraphs.some(({ name }) => name === publisher);
  if (approved && isThere && isEqual(approved.schemas, after.schemas)) return [];
  const former = joinedGraph(before.supergraph);
  const next = joinedGraph(after.supergraph);
  const found = [
    ...otherResolvers(former, next, publisher, new Set(after.subgraphs.map(({ name }) => name))),
    ...after.subgraphs.flatMap(({ name }) => newReads(former, next, name, publisher)),
    ...otherShapes(former, next, publisher),
  ];
  const needs = found.map(({ concerned, ...need }): Need => {
    return { ...need, losing: concerned.some(isBuiltIn) ? [] : concerned };
  });
  return [...(approved ? [] : otherAddress(before, after, publisher, removed)), ...needs];
}

/** A move to another scheme, host or port. The path is the publisher's own. */
function otherAddress(
  before: GraphContent,
  after: GraphContent,
  publisher: string,
  removed: SubgraphEntry | undefined,
): Need[] {
  const entryIn = ({ subgraphs }: GraphContent) => subgraphs.find(({ name }) => name === publisher);
  const [former = removed, next] = [entryIn(before), entryIn(after)];
  if (former === undefined || next === undefined) return [];
  const [from, to] = [originOf(former.url), originOf(next.url)];
  if (from === to) return [];
  const what = `${publisher} would be called at ${to} instead of ${from}`;
  return [{ rule: 'url', what, losing: [] }];
}

function originOf(url: string | undefined): string {
  if (url === undefined || !URL.canParse(url)) return 'no URL';
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

/** Fields of others that the publisher would resolve. */
function otherResolvers(
  former: JoinedGraph,
  next: JoinedGraph,
  publisher: string,
  names: ReadonlySet<string>,
): Found[] {
  const found: Found[] = [];
  for (const [typeName, { fields }] of next.types) {
    for (const [name, { resolvers, overriding }] of fields) {
      const known = former.types.get(typeName)?.fields.get(name);
      const others = without(known?.resolvers ?? [], publisher);
      // A subgraph may have the field later, or again.
      const overridden = overriding.get(publisher);
      const isNew = overridden !== undefined && overridden !== known?.overriding.get(publisher);
      const lost = [
        ...others.filter((each) => !resolvers.has(each)),
        ...(isNew && names.has(overridden) && !others.includes(overridden) ? [overridden] : []),
      ];
      // What the publisher does can give a field to others, too.
      for (const resolver of new Set([publisher, ...resolvers])) {
        const taken = resolver === publisher ? lost : [];
        const isGained = gains(former, next, resolver, { typeName, name });
        const all = isGained ? [...taken, ...others, ...resolvers] : taken;
        const concerned = without(all, publisher).filter((each) => each !== resolver);
        if (concerned.length === 0) continue;
        const how = taken.length > 0 ? 'instead of' : 'as well as';
        const subject = `${typeName}.${name} would be resolved by ${resolver}`;
        found.push({
          rule: 'resolves',
          what: `${subject} ${how} ${concerned.join(', ')}`,
          concerned,
        });
      }
    }
  }
  return found;
}

/**
 * Whether a subgraph would resolve a field for objects for which it did not before: those in its
 * own responses, or those that it is asked for by a key. What a reference has, by keys that
 * others offer, does not count; nor do fields of types without a key, whose objects belong to the
 * subgraph that resolves the field that leads to them.
 */
function gains(
  former: JoinedGraph,
  next: JoinedGraph,
  subgraph: string,
  { typeName, name }: { typeName: string; name: string },
): boolean {
  const fieldIn = ({ types }: JoinedGraph) => types.get(typeName)?.fields.get(name);
  const field = fieldIn(next);
  if (!field?.resolvers.has(subgraph)) return false;
  const isKnown = fieldIn(former)?.resolvers.has(subgraph) === true;
  const isEntry = ({ isResolvable }: SubgraphKey) => isResolvable;
  const known = isKnown ? keysOf(former, typeName, subgraph).filter(isEntry) : [];
  const keys = keysOf(next, typeName, subgraph);
  const isGiven = ({ of, key }: SubgraphKey) => {
    const coordinates = coordinatesIn(next, of, key);
    return (
      coordinates.includes(`${typeName}.${name}`) && isOfferedKey(next, of, coordinates, subgraph)
    );
  };
  const isNew = ({ of, key }: SubgraphKey) =>
    !known.some((each) => each.of === of && each.key === key);
  const type = next.types.get(typeName);
  const isValue = type?.keys.length === 0 && type.isObject && !ROOTS.has(typeName);
  const isOwn = () =>
    (isValue && !field.overriding.has(subgraph)) || (keys.length > 0 && keys.every(isGiven));
  return (!isKnown && !isOwn()) || keys.filter(isEntry).some((key) => isNew(key) && !isGiven(key));
}

/** Fields that the reader would receive, or answer on a path, of others than before. */
function newReads(
  former: JoinedGraph,
  next: JoinedGraph,
  reader: string,
  publisher: string,
): Found[] {
  const ownersOf = ({ parts }: JoinedGraph, coordinate: string) => [
    ...(parts.get(`${coordinate} `)?.owners ?? []),
  ];
  const known = new Map<string, string[]>();
  for (const { read, coordinate } of readsOf(former, reader))
    known.set(read, ownersOf(former, coordinate));
  const found = new Map<string, Found>();
  for (const { read, coordinate, what, isKey } of readsOf(next, reader)) {
    // Whoever owns it may have offered it by a key, which is no read.
    const isOffered = isKey && reader !== publisher;
    const had = known.get(read) ?? (isOffered ? ownersOf(former, coordinate) : []);
    const concerned = ownersOf(next, coordinate).filter(
      (each) => each !== reader && each !== publisher && !had.includes(each),
    );
    if (concerned.length > 0) found.set(read, { rule: 'reads', what, concerned });
  }
  return [...found.values()];
}

/** `read` is equal in two graphs if the reader reads the same in both. */
function readsOf(graph: JoinedGraph, reader: string) {
  const reads: { read: string; coordinate: string; what: string; isKey?: boolean }[] = [];
  const add = (set: string, typeName: string, forWhat: string, isKey = false) => {
    for (const { coordinate, selected, path } of selectedIn(set, typeName, graph)) {
      const what = `${reader} would get ${selected} ${forWhat}`;
      reads.push({ read: path, coordinate, what, isKey });
    }
  };
  /** What is provided below one field is not below another. */
  const addProvided = (set: string, typeName: string, field: string) => {
    for (const { coordinate, selected, path } of selectedIn(set, typeName, graph)) {
      const what = `${reader} would answer ${selected} below ${field}`;
      reads.push({ read: `${path} below ${field}`, coordinate, what });
    }
  };
  for (const [typeName, { keys, abstractIn, isObject, fields }] of graph.types) {
    const own = keys.filter(({ graph: name }) => name === reader);
    for (const { key } of own) {
      const isOffered = isOfferedKey(graph, typeName, coordinatesIn(graph, typeName, key), reader);
      if (!isOffered) add(key, typeName, `by its key of ${typeName}`, true);
    }
    if (abstractIn.has(reader) || (!isObject && own.some(({ isResolvable }) => isResolvable))) {
      const what = `${reader} would answer for every ${typeName}, which is an interface`;
      reads.push({ read: what, coordinate: typeName, what });
    }
    for (const [name, { requires, provides, typeName: target }] of fields) {
      const field = `${typeName}.${name}`;
      for (const each of requires)
        if (each.graph === reader) add(each.set, typeName, `for ${field}`);
      for (const each of provides) if (each.graph === reader) addProvided(each.set, target, field);
    }
  }
  return reads;
}

/**
 * Anything of others that changes for callers. What appears or goes away is one need, with all that
 * is in it.
 */
function otherShapes(former: JoinedGraph, next: JoinedGraph, publisher: string): Found[] {
  const losers = (key: string) => {
    const [was, is] = [former.parts.get(key), next.parts.get(key)];
    if (was?.value === is?.value) return [];
    return without(
      [was, is].flatMap((part) => [...(part?.owners ?? [])]),
      publisher,
    );
  };
  const found: Found[] = [];
  for (const key of new Set([...former.parts.keys(), ...next.parts.keys()])) {
    const concerned = losers(key);
    const [was, is] = [former.parts.get(key), next.parts.get(key)];
    const { coordinate, aspect } = (is ?? was) as Part; // One of the two has the key.
    const isWhole = aspect === '';
    if (concerned.length === 0 || (!isWhole && losers(`${coordinate} `).length > 0)) continue;
    const subject = isWhole ? coordinate : `${coordinate} (${aspect})`;
    const verb = was === undefined ? 'be added' : is === undefined ? 'go away' : 'change';
    found.push({ rule: 'shape', what: `${subject} would ${verb}`, concerned });
  }
  return found;
}

/** A key of a type or of the interface `of`. `isResolvable` says whether one is asked for by it. */
type SubgraphKey = { of: string; key: string; isResolvable: boolean };

/** The keys by which a subgraph knows objects of a type, by those of its interface objects too. */
function keysOf({ types }: JoinedGraph, typeName: string, subgraph: string): SubgraphKey[] {
  const abstract = types.get(typeName)?.interfaces ?? [];
  const names = [typeName, ...abstract.filter((each) => types.get(each)?.abstractIn.has(subgraph))];
  return names.flatMap((of) =>
    (types.get(of)?.keys ?? []).flatMap(({ graph, ...key }) =>
      graph === subgraph ? { of, ...key } : [],
    ),
  );
}

/** None of a key that leads to other objects: the same coordinates there are not the same data. */
function coordinatesIn(graph: JoinedGraph, typeName: string, key: string): string[] {
  if (key.includes('{')) return [];
  return selectedIn(key, typeName, graph).map(({ coordinate }) => coordinate);
}

/**
 * Whether each other subgraph that resolves a part of a key has a key with all of it: of the type
 * or, for an interface, of the type that implements it.
 */
function isOfferedKey(
  graph: JoinedGraph,
  typeName: string,
  key: readonly string[],
  publisher: string,
): boolean {
  const offers = (subgraph: string, type: string, parts: readonly string[]) =>
    keysOf(graph, type, subgraph).some(({ of, key: theirs }) => {
      const coordinates = coordinatesIn(graph, of, theirs);
      return parts.every((part) => coordinates.includes(part));
    });
  if (key.length === 0) return false;
  return key.every((part) => {
    const [type = '', field = ''] = part.split('.');
    const resolvers = graph.types.get(type)?.fields.get(field)?.resolvers ?? [];
    const isBehind = graph.types.get(type)?.interfaces.includes(typeName);
    const ofType = key.filter((each) => each.startsWith(`${type}.`));
    return without(resolvers, publisher).every(
      (other) => offers(other, typeName, key) || (isBehind && offers(other, type, ofType)),
    );
  });
}

function without(names: Iterable<string>, name: string): string[] {
  return [...new Set(names)].filter((each) => each !== name);
}
