// Finds what a change of one subgraph touches that is not its own, which others have to approve.
import type { SubgraphEntry } from '@partner-loyalty/gateway/graph/graph.ts';
import type { Need } from '@partner-loyalty/gateway/graph/tables.ts';
import { elementsIn } from '@partner-loyalty/gateway/schema/definitions.ts';
import { isBuiltIn } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { type ASTNode, parse, print } from 'graphql';
import type { GraphContent } from './content.ts';
import {
  type JoinedField,
  type JoinedGraph,
  joinedGraph,
  type Names,
  type Part,
  selectedIn,
} from './joined.ts';

const ROOTS = new Set(['Query', 'Mutation', 'Subscription']);

type Past = { removed?: SubgraphEntry | undefined; approved?: GraphContent };

/**
 * What needs approval if `after` replaces `before`, in which only `publisher` has changed.
 * `removed` is what it was when it was taken out of the graph, if it is not in `before`. If it goes
 * back to what it was in `approved`, only what others have gained or changed since needs approval.
 */
export function needsOf(
  before: GraphContent,
  after: GraphContent,
  publisher: string,
  { removed, approved }: Past = {},
): Need[] {
  const former = joinedGraph(before.supergraph);
  const next = joinedGraph(after.supergraph);
  // What was taken out of the graph is not back without those who have its parts since.
  const isThere = before.subgraphs.some(({ name }) => name === publisher);
  const then = approved && isThere ? graphThen(approved, before) : undefined;
  return [
    ...(approved ? [] : otherAddress(before, after, publisher, removed)),
    ...otherResolvers(former, next, publisher, then),
    ...newReads(former, next, publisher, then),
    ...otherShapes(former, next, publisher, then),
  ];
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

/** The graph in which what the publisher goes back to was approved. */
type GraphThen = JoinedGraph & {
  /** Whether a subgraph declares a part as it did then. */
  keeps(subgraph: string, coordinate: string): boolean;
};

function graphThen({ supergraph, schemas }: GraphContent, now: GraphContent): GraphThen {
  const [then, since] = [schemas, now.schemas].map(
    (each) => new Map(Object.entries(each).map(([name, sdl]) => [name, declarationsIn(sdl)])),
  );
  return {
    ...joinedGraph(supergraph),
    keeps(subgraph, coordinate) {
      const [was, is] = [then?.get(subgraph), since?.get(subgraph)];
      const [type = ''] = coordinate.split('.');
      const isThere = was?.has(type) === true && is?.has(type) === true;
      return isThere && was.get(coordinate) === is.get(coordinate);
    },
  };
}

/** Fields of others that the publisher would resolve; of those who gained them since `approved`. */
function otherResolvers(
  former: JoinedGraph,
  next: JoinedGraph,
  publisher: string,
  approved?: GraphThen,
): Need[] {
  const isKnown = takesPart(former, next, publisher);
  const gains = takesPart(next, former, publisher);
  const tookPart = approved && takesPart(approved, approved, publisher);
  const needs: Need[] = [];
  for (const [typeName, { fields }] of next.types) {
    const hasKey = (graph: JoinedGraph) => keysOf(graph, typeName, publisher).length > 0;
    const gainsKey = hasKey(next) && !hasKey(former);
    for (const [name, { resolvers }] of fields) {
      const known = former.types.get(typeName)?.fields.get(name)?.resolvers;
      const others = without(known ?? [], publisher);
      const lost = others.filter((each) => !resolvers.has(each));
      const isGained = gains(typeName, name) && (gainsKey || !isKnown(typeName, name));
      const all = isGained ? [...new Set([...others, ...without(resolvers, publisher)])] : lost;
      const then = tookPart?.(typeName, name) && approved?.types.get(typeName)?.fields.get(name);
      const isAsThen = (subgraph: string) =>
        then && declaring(then).has(subgraph) && approved?.keeps(subgraph, `${typeName}.${name}`);
      const losing = all.filter((each) => !isAsThen(each));
      if (losing.length === 0) continue;
      const how = lost.length > 0 ? 'instead of' : 'as well as';
      const subject = `${typeName}.${name} would be resolved by ${publisher}`;
      needs.push(needOf('resolves', `${subject} ${how} ${losing.join(', ')}`, losing));
    }
  }
  return needs;
}

/** The subgraphs that resolve a field, and the overridden ones, which would without them. */
function declaring({ resolvers, overriding }: JoinedField): Names {
  return new Set([...resolvers, ...overriding.values()]);
}

/**
 * Returns whether the publisher helps to resolve a field. What every reference to an object
 * has, by a key that others offer, does not count; nor do fields of types without a key, whose
 * objects belong to the subgraph that resolves the field that leads to them.
 */
function takesPart(graph: JoinedGraph, other: JoinedGraph, publisher: string) {
  const { types } = graph;
  const inEveryKey = new Set<string>();
  for (const [name, { keys }] of types) {
    const [first = []] = keysOf(graph, name, publisher);
    const isOffered = keys.length > 0 && isOfferedKey(graph, name, first, publisher);
    for (const coordinate of isOffered ? first : []) {
      // A key may lead through other types, which have keys of their own.
      const [type = ''] = coordinate.split('.');
      const all = [name, type].flatMap((each) => keysOf(graph, each, publisher));
      if (all.every((key) => key.includes(coordinate))) inEveryKey.add(coordinate);
    }
  }
  return (typeName: string, name: string): boolean => {
    const type = types.get(typeName);
    const field = type?.fields.get(name);
    if (!field?.resolvers.has(publisher) || inEveryKey.has(`${typeName}.${name}`)) return false;
    const keys = [type, other.types.get(typeName)].flatMap((each) => each?.keys ?? []);
    const isValue = keys.length === 0 && type?.isObject === true && !ROOTS.has(typeName);
    return !isValue || field.overriding.has(publisher);
  };
}

/** Fields of others that the publisher would receive, or answer on a path. */
function newReads(
  former: JoinedGraph,
  next: JoinedGraph,
  publisher: string,
  approved?: JoinedGraph,
): Need[] {
  const readIn = (graph?: JoinedGraph) =>
    new Set(graph && readsOf(graph, publisher).map(({ read }) => read));
  const [known, then] = [readIn(former), readIn(approved)];
  const needs = new Map<string, Need>();
  for (const { read, coordinate, what } of readsOf(next, publisher)) {
    const key = `${coordinate} `;
    const had = then.has(read) ? approved?.parts.get(key)?.owners : undefined;
    const losing = without(next.parts.get(key)?.owners ?? [], publisher).filter(
      (each) => !had?.has(each),
    );
    if (!known.has(read) && losing.length > 0) needs.set(read, needOf('reads', what, losing));
  }
  return [...needs.values()];
}

/** `read` is equal in two graphs if the publisher reads the same in both. */
function readsOf(graph: JoinedGraph, publisher: string) {
  const reads: { read: string; coordinate: string; what: string }[] = [];
  const add = (set: string, typeName: string, forWhat: string) => {
    for (const { coordinate, selected } of selectedIn(set, typeName, graph))
      reads.push({
        read: selected,
        coordinate,
        what: `${publisher} would get ${selected} ${forWhat}`,
      });
  };
  /** What is provided below one field is not below another. */
  const addProvided = (set: string, typeName: string, field: string) => {
    for (const { coordinate, selected } of selectedIn(set, typeName, graph)) {
      const what = `${publisher} would answer ${selected} below ${field}`;
      reads.push({ read: what, coordinate, what });
    }
  };
  for (const [typeName, { keys, abstractIn, fields }] of graph.types) {
    for (const { graph: name, key } of keys) {
      if (name !== publisher) continue;
      const isOffered = isOfferedKey(
        graph,
        typeName,
        coordinatesIn(graph, typeName, key),
        publisher,
      );
      if (!isOffered) add(key, typeName, `by its key of ${typeName}`);
    }
    if (abstractIn.has(publisher)) {
      const what = `${publisher} would answer for every ${typeName}, as an @interfaceObject`;
      reads.push({ read: what, coordinate: typeName, what });
    }
    for (const [name, { requires, provides, typeName: target }] of fields) {
      const field = `${typeName}.${name}`;
      for (const each of requires)
        if (each.graph === publisher) add(each.set, typeName, `for ${field}`);
      for (const each of provides)
        if (each.graph === publisher) addProvided(each.set, target, field);
    }
  }
  return reads;
}

/**
 * Anything of others that changes for callers. What appears or goes away is one need, with all that
 * is in it.
 */
function otherShapes(
  former: JoinedGraph,
  next: JoinedGraph,
  publisher: string,
  approved?: GraphThen,
): Need[] {
  const losers = (key: string) => {
    const [was, is] = [former.parts.get(key), next.parts.get(key)];
    if (was?.value === is?.value) return [];
    const then = approved?.parts.get(key);
    const isAsThen = (subgraph: string) =>
      then?.owners.has(subgraph) &&
      then.value === is?.value &&
      approved?.keeps(subgraph, then.coordinate);
    const owners = new Set([was, is].flatMap((part) => [...(part?.owners ?? [])]));
    return without(owners, publisher).filter((each) => !isAsThen(each));
  };
  const needs: Need[] = [];
  for (const key of new Set([...former.parts.keys(), ...next.parts.keys()])) {
    const losing = losers(key);
    const [was, is] = [former.parts.get(key), next.parts.get(key)];
    const { coordinate, aspect } = (is ?? was) as Part; // One of the two has the key.
    const isWhole = aspect === '';
    if (losing.length === 0 || (!isWhole && losers(`${coordinate} `).length > 0)) continue;
    const subject = isWhole ? coordinate : `${coordinate} (${aspect})`;
    const verb = was === undefined ? 'be added' : is === undefined ? 'go away' : 'change';
    needs.push(needOf('shape', `${subject} would ${verb}`, losing));
  }
  return needs;
}

function keysOf(graph: JoinedGraph, typeName: string, subgraph: string): string[][] {
  const keys = graph.types.get(typeName)?.keys ?? [];
  return keys.flatMap(({ graph: name, key }) =>
    name === subgraph ? [coordinatesIn(graph, typeName, key)] : [],
  );
}

function coordinatesIn(graph: JoinedGraph, typeName: string, set: string): string[] {
  return selectedIn(set, typeName, graph).map(({ coordinate }) => coordinate);
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
    keysOf(graph, type, subgraph).some((theirs) => parts.every((part) => theirs.includes(part)));
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

/** What a subgraph declares of each type and its elements, as text. */
function declarationsIn(sdl: string): ReadonlyMap<string, string> {
  const document = parse(sdl, { noLocation: true });
  const found = new Map<string, string>();
  const add = (coordinate: string, node: ASTNode) =>
    found.set(coordinate, (found.get(coordinate) ?? '') + print(node));
  for (const { coordinate, node } of elementsIn(document)) add(coordinate, node);
  for (const node of document.definitions)
    if ('name' in node && node.name !== undefined)
      add(node.name.value, { ...node, ...NO_ELEMENTS });
  return found;
}
const NO_ELEMENTS = { fields: [], values: [] };

function needOf(rule: Need['rule'], what: string, losing: string[]): Need {
  return { rule, what, losing: losing.some(isBuiltIn) ? [] : losing };
}

function without(names: Iterable<string>, name: string): string[] {
  return [...new Set(names)].filter((each) => each !== name);
}
