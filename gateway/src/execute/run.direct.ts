// Runs direct plans over the transports, merges the data and objects the errors.
import type { FetchNode, PlanNode, QueryPlanSelectionNode } from '@apollo/query-planner';
import { isServerError } from '@partner-loyalty/runtime/errors.ts';
import { isJsonObject } from '@partner-loyalty/runtime/input.ts';
import type { Trace } from '@partner-loyalty/runtime/observe/tracing/trace.ts';
import {
  MAX_ENTITIES,
  tooManyEntities,
  unavailable,
} from '@partner-loyalty/runtime/transport/deadline.ts';
import type {
  SubgraphError,
  SubgraphRequest,
  SubgraphResponse,
  Transport,
} from '@partner-loyalty/runtime/transport/types.ts';
import { Verbatim, withVerbatim } from '../document/literals.ts';

export type Data = Record<string, unknown>;

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
};

/** An error with its path in the data. */
export type PlacedError = SubgraphError & {
  /**
   * Set if the subgraph returned null for a whole entity because of it: the length of the entity's
   * path, with which the error's begins. Every other field of the entity is missing, too.
   */
  entityDepth?: number | undefined;
};

/**
 * Runs a direct plan, without a promise if no transport returns one. What goes wrong in a subgraph
 * is in `errors`, never a rejection. `path` leads from the root to the objects that the node is
 * about; '@' is every item of a list.
 */
export function runDirectPlan(
  node: PlanNode,
  run: PlanRun,
  path: readonly string[] = [],
): void | Promise<void> {
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
): void | Promise<void> {
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
): void | Promise<void> {
  const running = nodes
    .map((node) => runDirectPlan(node, run, path))
    .filter((each) => each !== undefined);
  return running.length === 0 ? undefined : Promise.all(running).then(() => {});
}

function runFetch(fetch: FetchNode, run: PlanRun, path: readonly string[]): void | Promise<void> {
  const { requires, serviceName, operation, operationName } = fetch;
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
  const query = isVerbatim ? withVerbatim(operation, variables) : operation;
  let objects: PlacedObject[] = [];
  let entityTypes: unknown[] | undefined;
  if (requires !== undefined) {
    const representations: Data[] = [];
    objects = objectsAt(run.data, path).filter(({ object }) => {
      const representation = represent(object, requires);
      if (representation?.__typename === undefined) return false;
      return representations.push(representation) > 0;
    });
    if (objects.length === 0) return undefined;
    variables.representations = representations;
    entityTypes = representations.map(({ __typename }) => __typename);
  }
  const trace = run.trace?.child(`subgraph ${serviceName}`, 'client');
  const response = ask(transport, {
    query,
    variables,
    operationName,
    caller: run.caller,
    requestId: run.requestId,
    sandboxNow: run.sandboxNow,
    entityTypes,
    trace,
  });
  if (!(response instanceof Promise)) return take(response, fetch, run, objects, trace);
  return response.then((late) => take(late, fetch, run, objects, trace));
}

/** Asks a subgraph, unless it is about too many entities. */
export function ask(
  transport: Transport,
  request: SubgraphRequest,
): SubgraphResponse | Promise<SubgraphResponse> {
  const { entityTypes = [] } = request;
  return entityTypes.length > MAX_ENTITIES ? tooManyEntities() : transport.execute(request);
}

export function endFetch(trace: Trace, { errors }: SubgraphResponse): void {
  const code = errors?.[0]?.extensions.code;
  trace.end({ 'error.type': code }, isServerError(code));
}

function take(
  response: SubgraphResponse,
  fetch: FetchNode,
  run: PlanRun,
  objects: readonly PlacedObject[],
  trace: Trace | undefined,
): void {
  const { data } = response;
  if (trace !== undefined) endFetch(trace, response);
  addErrors(run.errors, response, fetch.requires && objects);
  if (data === undefined || data === null) return;
  if (fetch.requires === undefined) {
    merge(run.data, data);
    return;
  }
  const entities = data._entities;
  if (!Array.isArray(entities) || entities.length !== objects.length) {
    addErrors(run.errors, unavailable(), objects);
    return;
  }
  objects.forEach(({ object }, index) => {
    const entity: unknown = entities[index];
    if (!isJsonObject(entity)) return;
    entity.__typename ??= object.__typename;
    merge(object, entity);
  });
}

/** How many errors a fetch has at most: a list may have many thousands. */
const MAX_ERRORS_OF_FETCH = 1_000;

/**
 * Adds the errors of a fetch with their paths in the data. If it is one of entities, `objects` are
 * those of its representations: an entity's errors get its path, and an error without a path gets
 * the paths of all, up to 100.
 */
export function addErrors(
  to: PlacedError[],
  { data, errors = [] }: SubgraphResponse,
  objects: readonly PlacedObject[] | undefined,
): void {
  const room = to.length + MAX_ERRORS_OF_FETCH;
  for (const error of errors) {
    if (to.length >= room) return;
    to.push(...placedErrors(error, objects, data?._entities));
  }
}

function placedErrors(
  error: SubgraphError,
  objects: readonly PlacedObject[] | undefined,
  entities: unknown,
): PlacedError[] {
  if (objects === undefined) return [error];
  const index = error.path?.[1];
  if (typeof index !== 'number')
    return objects.slice(0, 100).map(({ path }) => ({ ...error, path: pathOf(path) }));
  const entity = pathOf(objects[index]?.path);
  const path = [...entity, ...(error.path?.slice(2) ?? [])];
  const isNull = Array.isArray(entities) && entities[index] === null;
  return [{ ...error, path, ...(isNull && { entityDepth: entity.length }) }];
}

/** An object in the data and its path, as a list linked from its end. */
export type PlacedObject = { object: Data; path: Steps };
export type Steps = { before: Steps; step: string | number } | undefined;

/** The objects that a plan's path leads to; '@' is every item of a list. */
export function objectsAt(data: Data, path: readonly string[]): PlacedObject[] {
  const objects: PlacedObject[] = [];
  collectObjects(data, path, 0, undefined, objects);
  return objects;
}

// The path has one '@' for each level of lists.
function collectObjects(
  value: unknown,
  path: readonly string[],
  depth: number,
  at: Steps,
  objects: PlacedObject[],
): void {
  if (Array.isArray(value)) {
    for (const [step, item] of value.entries())
      collectObjects(item, path, depth + 1, { before: at, step }, objects);
    return;
  }
  if (!isJsonObject(value)) return;
  const step = path[depth];
  if (step === undefined) objects.push({ object: value, path: at });
  else if (Object.hasOwn(value, step))
    collectObjects(value[step], path, depth + 1, { before: at, step }, objects);
}

export function pathOf(steps: Steps): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at = steps; at !== undefined; at = at.before) path.unshift(at.step);
  return path;
}

/** An object's representation for another subgraph; null if one of its fields is missing. */
function represent(source: Data, selections: readonly QueryPlanSelectionNode[]): Data | null {
  const representation: Data = {};
  for (const selection of selections) {
    if (selection.kind === 'InlineFragment') {
      if (source.__typename !== selection.typeCondition) continue;
      const part = represent(source, selection.selections);
      // A field that only one key needs may be missing; another one still identifies the object.
      if (part !== null) merge(representation, part);
      continue;
    }
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

// Callers choose response names, so `__proto__` has to become a property like any other.
export function merge(target: Data, source: Data): void {
  for (const name of Object.keys(source)) {
    const value = source[name];
    if (value === undefined) continue;
    const present = Object.hasOwn(target, name) ? target[name] : undefined;
    if (isJsonObject(present) && isJsonObject(value)) merge(present, value);
    else if (Array.isArray(present) && Array.isArray(value) && present.length === value.length)
      mergeLists(present, value);
    else if (name === '__proto__')
      Object.defineProperty(target, name, {
        value,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    else target[name] = value;
  }
}

function mergeLists(target: unknown[], source: readonly unknown[]): void {
  source.forEach((value, index) => {
    const present = target[index];
    if (isJsonObject(present) && isJsonObject(value)) merge(present, value);
    else target[index] = value;
  });
}
