// Runs direct plans over the transports, merges the data and objects the errors.
import type { FetchNode, PlanNode, QueryPlanSelectionNode } from '@apollo/query-planner';
import { isServerError } from '@partner-loyalty/runtime/errors.ts';
import { isJsonObject } from '@partner-loyalty/runtime/input.ts';
import { isPromise, type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { Trace } from '@partner-loyalty/runtime/observe/tracing/trace.ts';
import { isBuiltIn } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { tooLargeEntities, unavailable } from '@partner-loyalty/runtime/transport/deadline.ts';
import type {
  SubgraphRequest,
  SubgraphResponse,
  Transport,
} from '@partner-loyalty/runtime/transport/types.ts';
import { Verbatim, withVerbatim } from '../document/literals.ts';
import { type Data, merge, mergeIntoAll, type Sharing } from './merge.ts';
import { lookUpSteps, type Pace, TOO_MUCH, written } from './pace.ts';
import { addErrors, type PlacedError, type Steps } from './places.ts';
import { ask, Branch, type Meeting, WORK_OF_KEY, WORK_OF_TEXT } from './together.ts';

/** Who asks subgraphs, and for which request. */
export type Asker = Pick<SubgraphRequest, 'caller' | 'requestId' | 'sandboxNow' | 'trace'>;

/**
 * One run of a plan. `coerced` has the variables with their default values, which decide
 * conditions; subgraphs get `variables` as the caller sent them.
 */
export type PlanRun = Asker & {
  transports: Readonly<Record<string, Transport>>;
  variables: Data;
  coerced: Data;
  /** What the fetches have returned so far. */
  data: Data;
  errors: PlacedError[];
} & Sharing &
  Meeting;

/**
 * Runs a direct plan, without a promise if no transport returns one. What goes wrong in a subgraph
 * is in `errors`, never a rejection. `path` leads from the root to the objects that the node is
 * about; '@' is every item of a list.
 */
export function runDirectPlan(
  node: PlanNode,
  run: PlanRun,
  path: readonly string[] = [],
): MaybePromise<void> {
  switch (node.kind) {
    case 'Fetch':
      return runFetch(node, run, path);
    case 'Flatten':
      return runDirectPlan(node.node, run, [...path, ...node.path.map(String)]);
    case 'Sequence':
      return runSequence(node.nodes, run, path, 0);
    case 'Parallel':
      return runParallel(node.nodes, run, path);
    case 'Condition': {
      const branch = run.coerced[node.condition] === true ? node.ifClause : node.elseClause;
      return branch && runDirectPlan(branch, run, path);
    }
    case 'Defer':
      throw new Error('no surface has @defer');
  }
}

function runSequence(
  nodes: readonly PlanNode[],
  run: PlanRun,
  path: readonly string[],
  from: number,
): MaybePromise<void> {
  for (let index = from; index < nodes.length; index += 1) {
    const node = nodes[index];
    const running = node && runDirectPlan(node, run, path);
    if (running) return running.then(() => runSequence(nodes, run, path, index + 1));
  }
}

function runParallel(
  nodes: readonly PlanNode[],
  run: PlanRun,
  path: readonly string[],
): MaybePromise<void> {
  const running = nodes
    .map((node) => runDirectPlan(node, run, path))
    .filter((each) => each !== undefined);
  return running.length === 0 ? undefined : Promise.all(running).then(() => {});
}

function runFetch(fetch: FetchNode, run: PlanRun, path: readonly string[]): MaybePromise<void> {
  const send = () => within(run, () => sendFetch(fetch, run, path));
  const waiting = run.pace.fetch(run.transports[fetch.serviceName]?.isLocal);
  return waiting === undefined ? send() : waiting.then(send);
}

function sendFetch(fetch: FetchNode, run: PlanRun, path: readonly string[]): MaybePromise<void> {
  const { requires } = fetch;
  if (requires === undefined) return askFor(fetch, run, undefined);
  const asked = run.pace.alone(() => askedAt(path, requires, run));
  return mapMaybe(asked, (all) =>
    all.representations.length === 0 ? undefined : askFor(fetch, run, all),
  );
}

function askFor(fetch: FetchNode, run: PlanRun, asked: Asked | undefined): MaybePromise<void> {
  const { serviceName, operation, operationName } = fetch;
  const transport = run.transports[serviceName];
  if (transport === undefined)
    throw new Error(`the plan names a subgraph "${serviceName}" that is not configured`);
  const variables: Data = Object.create(null); // A variable may be named __proto__.
  let isVerbatim = false;
  for (const name of fetch.variableUsages ?? []) {
    if (!Object.hasOwn(run.variables, name)) continue;
    variables[name] = run.variables[name];
    isVerbatim ||= variables[name] instanceof Verbatim;
  }
  const query = isVerbatim ? withVerbatim(operation, variables, run.pace.writeLiteral) : operation;
  run.pace.write(written(variables));
  if (asked !== undefined) variables.representations = asked.representations;
  const trace = run.trace?.child(`subgraph ${serviceName}`, 'client');
  const request: SubgraphRequest = {
    query,
    variables,
    operationName,
    caller: run.caller,
    requestId: run.requestId,
    sandboxNow: run.sandboxNow,
    entityTypes: asked?.representations.map(({ __typename }) => __typename),
    reading: isBuiltIn(serviceName) ? undefined : run.pace,
    trace,
  };
  const response = ask(serviceName, transport, request, run);
  return mapMaybe(response, (late) =>
    within(run, () =>
      run.pace.alone(() => take(late, run, asked ?? operation, trace, serviceName)),
    ),
  );
}

/** What a fetch of entities asks for. */
type Asked = {
  path: readonly string[];
  requires: readonly QueryPlanSelectionNode[];
  /** Each once. */
  representations: readonly Data[];
  /** Leads to the index of a representation. */
  root: Branch;
  /** The objects in the data that each stands for. */
  objects: readonly (readonly Data[])[];
  copies: number | undefined;
};

function askedAt(
  path: readonly string[],
  requires: readonly QueryPlanSelectionNode[],
  run: PlanRun,
): MaybePromise<Asked> {
  const { pace, copies } = run;
  const root = new Branch();
  const representations: Data[] = [];
  const objects: Data[][] = [];
  const texts: Texts = { known: new Map(), pace };
  const keys = Math.max(...requires.map(({ selections }) => selections?.length ?? 1));
  const added = pace.each(targetsAt(path, run), (object) => {
    pace.work(WORK_OF_KEY * keys * (keys > MANY_KEYS ? 5 : 1));
    const branch = branchOf(object, requires, root, texts);
    if (branch === undefined) return;
    branch.index ??= addRepresentation(object, requires, representations, pace);
    if (branch.index === NONE) return;
    objects[branch.index] ??= [];
    objects[branch.index]?.push(object);
  });
  return mapMaybe(added, () => ({ path, requires, representations, root, objects, copies }));
}

/** V8 is slow with objects of more fields. */
const MANY_KEYS = 100;
/** The index of an object that another subgraph cannot identify. */
const NONE = -1;

function addRepresentation(
  object: Data,
  requires: readonly QueryPlanSelectionNode[],
  to: Data[],
  pace: Pace,
): number {
  const representation = represent(object, requires);
  if (representation?.__typename === undefined) return NONE;
  pace.write(written(representation));
  return to.push(representation) - 1;
}

/** The texts of values by what is selected of them. */
type Texts = { known: Map<QueryPlanSelectionNode, Map<unknown, string>>; pace: Pace };

/** Where what represents an object leads to; undefined if one of its fields is missing. */
function branchOf(
  object: Data,
  selections: readonly QueryPlanSelectionNode[],
  from: Branch,
  texts: Texts,
): Branch | undefined {
  let at = from;
  for (const selection of selections) {
    if (selection.kind === 'InlineFragment') {
      if (object.__typename !== selection.typeCondition) continue;
      // Two fragments may be missing different fields.
      at = branchOf(object, selection.selections, at.next(selection), texts) ?? at;
      continue;
    }
    const name = selection.alias ?? selection.name;
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (value === undefined) return undefined;
    const isWritten = typeof value === 'object' && value !== null;
    const step = isWritten ? textOf(value, selection, texts) : value;
    texts.pace.work(lookUpSteps(step));
    at = at.to(step, isWritten);
  }
  return at;
}

/** Places that share a value have one text of it. */
function textOf(value: object, selection: PlannedField, { known, pace }: Texts): string {
  const texts = known.get(selection) ?? new Map<unknown, string>();
  known.set(selection, texts);
  const before = texts.get(value);
  if (before !== undefined) return before;
  pace.work(WORK_OF_TEXT + written(value).steps);
  const text = JSON.stringify(represented(value, selection.selections));
  texts.set(value, text);
  return text;
}

type PlannedField = Extract<QueryPlanSelectionNode, { kind: 'Field' }>;

export function endFetch(trace: Trace, { errors }: SubgraphResponse): void {
  const code = errors?.[0]?.extensions.code;
  trace.end({ 'error.type': code }, isServerError(code));
}

function take(
  response: SubgraphResponse,
  run: PlanRun,
  asked: Asked | string,
  trace: Trace | undefined,
  subgraph: string,
): MaybePromise<void> {
  const { data } = response;
  if (trace !== undefined) endFetch(trace, response);
  const places = typeof asked === 'string' ? asked : () => placesOf(asked, run);
  addErrors(run.errors, response, places, subgraph);
  if (data === undefined || data === null) return;
  if (typeof asked === 'string') {
    merge(run.data, data, run);
    return;
  }
  const entities = data._entities;
  if (!Array.isArray(entities) || entities.length !== asked.representations.length) {
    addErrors(run.errors, unavailable(), places, subgraph);
    return;
  }
  const objects = asked.copies === run.copies ? asked.objects : objectsOf(asked, run);
  return run.pace.each(entities, (entity, index) => {
    const [first, ...others] = objects[index] ?? [];
    if (!isJsonObject(entity) || first === undefined) return;
    entity.__typename ??= first.__typename;
    if (others.length > 0) return mergeIntoAll([first, ...others], entity, run);
    merge(first, entity, run);
  });
}

/** If a run does too much, that is an error of it. */
function within(run: PlanRun, act: () => MaybePromise<void>): MaybePromise<void> {
  try {
    const acting = act();
    return isPromise(acting) ? acting.catch((error) => refuse(error, run)) : acting;
  } catch (error) {
    return refuse(error, run);
  }
}

export function refuse(error: unknown, { errors }: PlanRun): void {
  if (error !== TOO_MUCH) throw error;
  addErrors(errors, tooLargeEntities(), undefined);
}

/** The objects of each representation, after some objects have been copied. */
function objectsOf({ path, requires, representations, root }: Asked, run: PlanRun): Data[][] {
  const objects: Data[][] = representations.map(() => []);
  const texts: Texts = { known: new Map(), pace: run.pace };
  for (const object of targetsAt(path, run)) {
    run.pace.work(WORK_OF_KEY);
    objects[branchOf(object, requires, root, texts)?.index ?? NONE]?.push(object);
  }
  return objects;
}

/** The places of each representation's objects, all of those that share one. */
function placesOf(asked: Asked, run: PlanRun): Steps[][] {
  const indexes = new Map<Data, number>();
  const objects = asked.copies === run.copies ? asked.objects : objectsOf(asked, run);
  for (const [index, each] of objects.entries())
    for (const object of each) indexes.set(object, index);
  const places: Steps[][] = objects.map(() => []);
  for (const { object, path } of objectsAt(run, asked.path))
    places[indexes.get(object) ?? -1]?.push(path);
  return places;
}

/** An object in the data and its path. */
export type PlacedObject = { object: Data; path: Steps };

/** The objects that a plan's path leads to, each at all of its places; '@' is all of a list. */
export function objectsAt(
  run: Pick<PlanRun, 'data' | 'pace'>,
  path: readonly string[],
): PlacedObject[] {
  const objects: PlacedObject[] = [];
  // The path has one '@' for each level of lists.
  const collect = (value: unknown, depth: number, at: Steps): void => {
    run.pace.work(WORK_OF_PLACE);
    if (Array.isArray(value)) {
      for (const [step, item] of value.entries()) collect(item, depth + 1, { before: at, step });
      return;
    }
    if (!isJsonObject(value)) return;
    const step = path[depth];
    if (step === undefined) objects.push({ object: value, path: at });
    else if (Object.hasOwn(value, step)) collect(value[step], depth + 1, { before: at, step });
  };
  collect(run.data, 0, undefined);
  return objects;
}

/** A place has a path of its own. */
const WORK_OF_PLACE = 10;

/** The same objects, each once and without its places. */
function targetsAt(path: readonly string[], { data, shared, pace }: PlanRun): Data[] {
  let values: unknown[] = [data];
  for (const step of path) {
    const next: unknown[] = [];
    // No numbers, which may all have the same hash.
    const add = (value: unknown) => void (typeof value === 'object' && next.push(value));
    for (const value of values)
      if (Array.isArray(value)) for (const item of value) add(item);
      else if (isJsonObject(value) && Object.hasOwn(value, step)) add(value[step]);
    pace.work(next.length);
    values = shared === undefined ? next : [...new Set(next)];
  }
  return values.filter(isJsonObject);
}

/** An object's representation for another subgraph; null if one of its fields is missing. */
function represent(source: Data, selections: readonly QueryPlanSelectionNode[]): Data | null {
  let representation: Data = {};
  let isEmpty = true;
  for (const selection of selections) {
    if (selection.kind === 'InlineFragment') {
      if (source.__typename !== selection.typeCondition) continue;
      const part = represent(source, selection.selections);
      // A field that only one key needs may be missing; another one still identifies the object.
      if (part === null) continue;
      if (isEmpty) representation = part;
      else merge(representation, part);
      isEmpty = false;
      continue;
    }
    isEmpty = false;
    const name = selection.alias ?? selection.name;
    const value = Object.hasOwn(source, name) ? source[name] : undefined;
    if (value === undefined) return null;
    representation[name] = represented(value, selection.selections);
  }
  return representation;
}

function represented(
  value: unknown,
  selections: readonly QueryPlanSelectionNode[] | undefined,
): unknown {
  if (selections === undefined || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => represented(item, selections));
  return isJsonObject(value) ? represent(value, selections) : null;
}
