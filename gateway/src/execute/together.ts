// Asks a subgraph once for what several fetches of one level need of it.
import type { FetchNode, PlanNode } from '@apollo/query-planner';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { isBuiltIn } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import {
  DEADLINE_MS,
  MAX_ENTITIES,
  tooManyEntities,
  unavailable,
  withDeadline,
} from '@partner-loyalty/runtime/transport/deadline.ts';
import { areEntities } from '@partner-loyalty/runtime/transport/response.ts';
import type {
  SubgraphRequest,
  SubgraphResponse,
  Transport,
} from '@partner-loyalty/runtime/transport/types.ts';
import { type ASTNode, Kind, parse } from 'graphql';
import { lookUpSteps, type Pace, written } from './pace.ts';

type Data = Record<string, unknown>;

/** What a field of a representation takes, and, beside its weight, an object or a list. */
export const WORK_OF_KEY = 8;
export const WORK_OF_TEXT = 40;

/** What the fetches of entities of a plan are in an operation of several. */
export type Together = {
  /** By the fetch's own operation. */
  parts: Parts;
  /** Operations of several, by the numbers of their parts; undefined if these cannot be one. */
  operations: Map<string, Operation | undefined>;
  /** Until then they go apart, since an operation of several has failed. */
  apartUntil: number;
};

/** What is selected of the entities, and the variables and fragments as they are defined. */
type Part = {
  number: number;
  selections: string;
  variables: Definitions;
  fragments: Definitions;
};
type Definitions = ReadonlyMap<string, string>;
/** Each is read from its operation when that is sent first. */
type Parts = Map<string, () => Part | undefined>;

/** The text, and the places of its parts by their field. */
type Operation = { query: string; fields: readonly (readonly number[])[] };

/**
 * The plan with its fetches of entities in levels where several ask the same subgraph: a level
 * begins when the one before has ended. The service's own subgraphs are asked apart, and get all
 * that is asked in a tick in one request. Nothing is `together` in most plans.
 */
export function inLevels(plan: PlanNode | undefined): {
  node: PlanNode | undefined;
  together?: Together | undefined;
} {
  if (plan === undefined) return { node: plan };
  const parts: Parts = new Map();
  const node = levelled(plan, parts);
  return {
    node,
    together: parts.size === 0 ? undefined : { parts, operations: new Map(), apartUntil: 0 },
  };
}

function levelled(node: PlanNode, parts: Parts): PlanNode {
  if (node.kind === 'Sequence')
    return { kind: 'Sequence', nodes: node.nodes.map((each) => levelled(each, parts)) };
  if (node.kind !== 'Parallel') return node;
  const branches = node.nodes.map((each) => levelled(each, parts));
  return parallel(grouped(branches).flatMap((group) => joined(group, parts)));
}

/** Branches that ask the same subgraphs for entities. */
function grouped(branches: readonly PlanNode[]): PlanNode[][] {
  let groups: { branches: PlanNode[]; asked: Set<string> }[] = [];
  for (const branch of branches) {
    const asked = new Set(levelsOf(branch).flatMap((level) => level.flatMap(askedBy)));
    const isNear = (group: { asked: Set<string> }) =>
      [...asked].some((each) => group.asked.has(each));
    const near = [...groups.filter(isNear), { branches: [branch], asked }];
    groups = groups.filter((group) => !near.includes(group));
    groups.push({
      branches: near.flatMap((group) => group.branches),
      asked: new Set(near.flatMap((group) => [...group.asked])),
    });
  }
  return groups.map((group) => group.branches);
}

/** The branches as one of levels, if any of these asks a subgraph for several fetches. */
function joined(branches: PlanNode[], parts: Parts): PlanNode[] {
  const levels = withLast(sideBySide(branches));
  const { size } = parts;
  for (const level of levels) addParts(level, parts);
  if (parts.size === size) return branches;
  const nodes = levels.map((level) => parallel(level.map(({ node }) => node)));
  return nodes.length === 1 ? nodes : [{ kind: 'Sequence', nodes }];
}

function parallel(nodes: PlanNode[]): PlanNode {
  const [only, ...others] = nodes;
  return only !== undefined && others.length === 0 ? only : { kind: 'Parallel', nodes };
}

/** A fetch with its conditions, and whether no other one waits for it. */
type Leaf = { node: PlanNode; isLast: boolean };

function levelsOf(node: PlanNode): Leaf[][] {
  if (node.kind === 'Parallel') return sideBySide(node.nodes);
  if (node.kind === 'Sequence')
    return node.nodes.flatMap((each, index) =>
      index === node.nodes.length - 1
        ? levelsOf(each)
        : mapLeaves(each, (leaf) => ({ ...leaf, isLast: false })),
    );
  if (node.kind !== 'Condition') return [[{ node, isLast: true }]];
  const { ifClause, elseClause } = node;
  if (ifClause !== undefined && elseClause !== undefined) return [[{ node, isLast: true }]];
  return mapLeaves(ifClause ?? elseClause ?? parallel([]), (leaf) => ({
    ...leaf,
    node: ifClause ? { ...node, ifClause: leaf.node } : { ...node, elseClause: leaf.node },
  }));
}

function mapLeaves(node: PlanNode, change: (leaf: Leaf) => Leaf): Leaf[][] {
  return levelsOf(node).map((level) => level.map(change));
}

function sideBySide(branches: readonly PlanNode[]): Leaf[][] {
  const levels: Leaf[][] = [];
  for (const branch of branches)
    for (const [depth, level] of levelsOf(branch).entries())
      levels[depth] = [...(levels[depth] ?? []), ...level];
  return levels;
}

/** What no other fetch waits for, in the last level that asks its subgraph. */
function withLast(levels: readonly Leaf[][]): Leaf[][] {
  const asked = levels.map((level) => new Set(level.flatMap(askedBy)));
  const depthOf = (leaf: Leaf, depth: number) => {
    const [name] = askedBy(leaf);
    const last = asked.findLastIndex((names) => names.has(name ?? ''));
    return leaf.isLast && last > depth ? last : depth;
  };
  const moved: Leaf[][] = levels.map(() => []);
  for (const [depth, level] of levels.entries())
    for (const leaf of level) moved[depthOf(leaf, depth)]?.push(leaf);
  return moved.filter((level) => level.length > 0);
}

/** The subgraph of a fetch of entities, if it is a team's. */
function askedBy({ node }: Leaf): string[] {
  const fetch = fetchIn(node);
  return fetch === undefined ? [] : [fetch.serviceName];
}

function fetchIn(node: PlanNode | undefined): FetchNode | undefined {
  if (node?.kind === 'Condition') return fetchIn(node.ifClause ?? node.elseClause);
  if (node?.kind === 'Flatten') return fetchIn(node.node);
  const isPart = node?.kind === 'Fetch' && node.requires !== undefined;
  return isPart && !isBuiltIn(node.serviceName) ? node : undefined;
}

function addParts(level: readonly Leaf[], parts: Parts): void {
  const fetches = level.flatMap(({ node }) => fetchIn(node) ?? []);
  for (const { serviceName, operation } of fetches)
    if (
      !parts.has(operation) &&
      fetches.filter((each) => each.serviceName === serviceName).length > 1
    )
      parts.set(operation, partLater(operation, parts.size));
}

function partLater(operation: string, number: number): () => Part | undefined {
  let part: { read: Part | undefined } | undefined;
  return () => {
    part ??= { read: partOf(operation, number) };
    return part.read;
  };
}

const REPRESENTATIONS = 'representations';

/** Undefined if the operation has more than entities. */
function partOf(operation: string, number: number): Part | undefined {
  const textOf = ({ loc }: ASTNode) => operation.slice(loc?.start, loc?.end);
  const variables = new Map<string, string>();
  const fragments = new Map<string, string>();
  let selections: string | undefined;
  for (const node of parse(operation).definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, textOf(node));
    if (node.kind !== Kind.OPERATION_DEFINITION) continue;
    const [root, ...others] = node.selectionSet.selections;
    const isPlain = root?.kind === Kind.FIELD && !root.alias && !root.directives?.length;
    if (!isPlain || !root.selectionSet || others.length > 0) return undefined;
    selections = textOf(root.selectionSet);
    for (const each of node.variableDefinitions ?? [])
      variables.set(each.variable.name.value, textOf(each));
  }
  variables.delete(REPRESENTATIONS);
  return selections === undefined ? undefined : { number, selections, variables, fragments };
}

/** A fetch that waits for the others of its tick. */
type Asking = {
  part: Part;
  request: SubgraphRequest;
  resolve(response: SubgraphResponse | Promise<SubgraphResponse>): void;
};

/** What of a run has to do with going together. */
export type Meeting = {
  together?: Together | undefined;
  /** By the subgraph's name. */
  waiting?: Map<string, Asking[]>;
  /** The values that were copied. */
  copied?: number;
  pace: Pace;
};

/** In a run: some 20 ms of work. */
const MAX_COPIED = 100_000;

/** Asks a subgraph, together with the other fetches of the tick if they are of one level. */
export function ask(
  name: string,
  transport: Transport,
  request: SubgraphRequest,
  run: Meeting,
): SubgraphResponse | Promise<SubgraphResponse> {
  const part = run.together?.parts.get(request.query)?.();
  if (part === undefined) return askApart(transport, request);
  return new Promise((resolve) => {
    run.waiting ??= new Map();
    const waiting = run.waiting.get(name) ?? [];
    run.waiting.set(name, waiting);
    if (waiting.push({ part, request, resolve }) > 1) return;
    process.nextTick(() => {
      run.waiting?.delete(name);
      askAll(transport, waiting, run).catch(() => {
        for (const { resolve } of waiting) resolve(unavailable());
      });
    });
  });
}

/** Asks a subgraph, unless it is about too many entities. */
function askApart(
  transport: Transport,
  request: SubgraphRequest,
): SubgraphResponse | Promise<SubgraphResponse> {
  const { entityTypes = [] } = request;
  return entityTypes.length > MAX_ENTITIES ? tooManyEntities() : transport.execute(request);
}

/** How long fetches that have failed together go apart. */
const APART_MS = 60_000;

/** If the operation of all fails as a whole, each is asked once more, within the same deadline. */
async function askAll(transport: Transport, all: readonly Asking[], run: Meeting): Promise<void> {
  const { together } = run;
  const startedAt = performance.now();
  const isApart = together === undefined || startedAt < together.apartUntil;
  const merged = isApart ? undefined : await mergedOf(all, together.operations, run);
  if (merged !== undefined && together !== undefined) {
    const asked = promised(transport.execute(merged.request));
    const response = await withDeadline(asked, DEADLINE_MS / 2);
    const responses = responsesIn(response, merged, all, run);
    if (responses !== undefined) {
      for (const [index, { resolve }] of all.entries()) resolve(responses[index] ?? unavailable());
      return;
    }
    together.apartUntil = performance.now() + APART_MS;
  }
  const left = DEADLINE_MS - (performance.now() - startedAt);
  for (const { request, resolve } of all) {
    const response = askApart(transport, request);
    const isLate = merged !== undefined && response instanceof Promise;
    resolve(isLate ? withDeadline(response, left) : response);
  }
}

type Merged = { request: SubgraphRequest; fields: Field[] };
/** A field of the operation, with the indexes of its entities for each fetch. */
type Field = { types: readonly unknown[]; indexes: ReadonlyMap<Asking, readonly number[]> };

/** Each condition of a plan makes other operations of it. */
const MAX_OPERATIONS = 4;

/** Undefined if there is nothing to merge, or too much. */
async function mergedOf(
  all: readonly Asking[],
  known: Together['operations'],
  run: Meeting,
): Promise<Merged | undefined> {
  const [first] = all;
  if (first === undefined || all.length === 1) return undefined;
  const parts = all.map(({ part }) => part);
  const key = parts.map(({ number }) => number).join();
  const operation = known.has(key) ? known.get(key) : operationOf(parts);
  if (known.size < MAX_OPERATIONS) known.set(key, operation);
  if (operation === undefined) return undefined;
  const variables: Data = Object.create(null); // One may be named __proto__.
  for (const { request } of all)
    for (const [name, value] of Object.entries(request.variables ?? {}))
      if (name !== REPRESENTATIONS) variables[name] = value;
  let count = 0;
  const fields: Field[] = [];
  for (const [index, places] of operation.fields.entries()) {
    const askings = places.flatMap((place) => all[place] ?? []);
    const { representations, field } = await fieldOf(askings, run);
    variables[nameOf(index)] = representations;
    count += representations.length;
    fields.push(field);
  }
  if (count > MAX_ENTITIES) return undefined;
  const { query } = operation;
  const whole = { query, variables, operationName: undefined, entityTypes: undefined };
  return { request: { ...first.request, ...whole }, fields };
}

/** Undefined if definitions or names would not differ. */
function operationOf(parts: readonly Part[]): Operation | undefined {
  const definitions = union(parts.map(({ variables }) => variables));
  const fragments = union(parts.map((part) => part.fragments));
  if (!definitions || !fragments) return undefined;
  const bySelections = new Map<string, number[]>();
  for (const [place, { selections }] of parts.entries())
    bySelections.set(selections, [...(bySelections.get(selections) ?? []), place]);
  const texts: string[] = [];
  for (const selections of bySelections.keys()) {
    const [name, alias] = [nameOf(texts.length), aliasOf(texts.length)];
    if (definitions.has(name)) return undefined;
    definitions.set(name, `$${name}:[_Any!]!`);
    texts.push(`${alias}:_entities(${REPRESENTATIONS}:$${name})${selections}`);
  }
  const head = `query(${[...definitions.values()].join(' ')})`;
  const query = [`${head}{${texts.join(' ')}}`, ...fragments.values()].join(' ');
  return { query, fields: [...bySelections.values()] };
}

function nameOf(index: number): string {
  return `${REPRESENTATIONS}${index}`;
}

/** All definitions, or undefined if a name has several. */
function union(all: readonly Definitions[]): Map<string, string> | undefined {
  const united = new Map<string, string>();
  for (const [name, text] of all.flatMap((each) => [...each])) {
    if ((united.get(name) ?? text) !== text) return undefined;
    united.set(name, text);
  }
  return united;
}

/** Each of all representations once. */
async function fieldOf(
  askings: readonly Asking[],
  run: Meeting,
): Promise<{ representations: readonly Data[]; field: Field }> {
  // Cast: the fetches have written them.
  const lists = askings.map(({ request }) => request.variables?.[REPRESENTATIONS] as Data[]);
  const { representations, indexes } = await distinct(lists.flat(), run);
  const types: unknown[] = [];
  const ofAsking = new Map<Asking, number[]>();
  let from = 0;
  for (const [place, asking] of askings.entries()) {
    const own = indexes.slice(from, from + (lists[place]?.length ?? 0));
    for (const [at, index] of own.entries()) types[index] = asking.request.entityTypes?.[at];
    ofAsking.set(asking, own);
    from += own.length;
  }
  return { representations, field: { types, indexes: ofAsking } };
}

function aliasOf(index: number): string {
  return `e${index}`;
}

/**
 * The response to each, unless entities are missing, errors cannot be told apart, or there is too
 * much to copy.
 */
function responsesIn(
  { data, errors = [] }: SubgraphResponse,
  { fields }: Merged,
  all: readonly Asking[],
  run: Meeting,
): SubgraphResponse[] | undefined {
  if (data === undefined || data === null) return undefined;
  const byAsking = new Map<Asking, Required<Pick<SubgraphResponse, 'data' | 'errors'>>>();
  for (const [place, { types, indexes }] of fields.entries()) {
    const entities = data[aliasOf(place)];
    if (!areEntities(entities, types)) return undefined;
    const isUsed = new Set<number>();
    for (const [asking, own] of indexes) {
      // What fetches share differs as soon as one of them is merged with something else.
      const answers = own.map((at) => (isUsed.has(at) ? copyOf(entities[at], run) : entities[at]));
      if (answers.includes(undefined)) return undefined;
      for (const at of own) isUsed.add(at);
      byAsking.set(asking, { data: { _entities: answers }, errors: [] });
    }
  }
  const placesIn = new Map(
    errors.length === 0
      ? []
      : fields.map(({ indexes }, place) => [aliasOf(place), placesByIndex(indexes)]),
  );
  for (const error of errors) {
    const [alias, index, ...steps] = error.path ?? [];
    const places = placesIn.get(String(alias));
    if (places === undefined || typeof index !== 'number') return undefined;
    for (const { asking, at } of places.get(index) ?? [])
      byAsking.get(asking)?.errors.push({ ...error, path: ['_entities', at, ...steps] });
  }
  return all.map((asking) => byAsking.get(asking) ?? unavailable());
}

function placesByIndex(indexes: Field['indexes']) {
  const places = new Map<number, { asking: Asking; at: number }[]>();
  for (const [asking, own] of indexes)
    for (const [at, index] of own.entries()) {
      const known = places.get(index) ?? [];
      known.push({ asking, at });
      places.set(index, known);
    }
  return places;
}

type Distinct = { representations: readonly Data[]; indexes: readonly number[] };

/** Each representation once, and for each of all its index among these. */
export function distinct(all: readonly Data[], { pace }: Meeting): MaybePromise<Distinct> {
  const root = new Branch();
  const representations: Data[] = [];
  const indexes: number[] = [];
  const added = pace.each(all, (representation) => {
    let at = root;
    for (const name of Object.keys(representation)) {
      const value = representation[name];
      const isWritten = typeof value === 'object';
      pace.work(isWritten ? WORK_OF_TEXT + written(value).steps : WORK_OF_KEY);
      const step = isWritten ? JSON.stringify(value) : value;
      pace.work(lookUpSteps(step));
      at = at.next(name).to(step, isWritten);
    }
    at.index ??= representations.push(representation) - 1;
    indexes.push(at.index);
  });
  return mapMaybe(added, () => ({ representations, indexes }));
}

/** Where names and values lead to. Keys of text would have to be written and hashed for each. */
export class Branch {
  index: number | undefined = undefined;
  /** Most lead to one other. */
  private first: { step: unknown; branch: Branch } | undefined = undefined;
  private others: Map<unknown, Branch> | undefined = undefined;

  /** Where a value leads to, or the text of an object. */
  to(step: unknown, isText: boolean): Branch {
    if (isText) return this.next(Branch).next(step);
    // Whoever knows V8 can find numbers that have the same hash.
    return typeof step === 'number' ? this.next(Number).next(String(step)) : this.next(step);
  }

  next(step: unknown): Branch {
    const { first } = this;
    if (first !== undefined && first.step === step) return first.branch;
    const known = this.others?.get(step);
    if (known !== undefined) return known;
    const branch = new Branch();
    if (first === undefined) this.first = { step, branch };
    else {
      this.others ??= new Map();
      this.others.set(step, branch);
    }
    return branch;
  }
}

/** A copy of a value in JSON, down to its leaves; undefined if the run has copied too much. */
export function copyOf(value: unknown, run: Meeting): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const names = Array.isArray(value) ? [] : Object.keys(value);
  const isNumbered = /^\d/.test(names[0] ?? '');
  const values: unknown[] = Array.isArray(value) ? value : Object.values(value);
  run.copied = (run.copied ?? 0) + (isNumbered ? written(value).steps : values.length);
  if (run.copied > MAX_COPIED) return undefined;
  // Filled one name after another, an object whose names are numbers takes up to 12 KB.
  if (isNumbered) return JSON.parse(JSON.stringify(value));
  const copies: unknown[] = [];
  for (const each of values) {
    copies.push(copyOf(each, run));
    if (run.copied > MAX_COPIED) return undefined;
  }
  if (Array.isArray(value)) return copies;
  return Object.fromEntries(names.map((name, place) => [name, copies[place]]));
}

async function promised<T>(value: T | Promise<T>): Promise<T> {
  return value;
}
