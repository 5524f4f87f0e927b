// Runs plans with @apollo/gateway's own execution: those that runDirectPlan is not made for.
// Apollo's libraries load slowly, and direct plans need none: import this file on use.
import { buildSchema as buildApolloSchema } from '@apollo/federation-internals';
import { buildOperationContext, executeQueryPlan, type ServiceMap } from '@apollo/gateway';
import type { PlanNode, QueryPlan } from '@apollo/query-planner';
import { ERRORS } from '@partner-loyalty/runtime/errors.ts';
import { isJsonObject } from '@partner-loyalty/runtime/input.ts';
import { isBuiltIn } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { unavailable } from '@partner-loyalty/runtime/transport/deadline.ts';
import type {
  SubgraphError,
  SubgraphRequest,
  Transport,
} from '@partner-loyalty/runtime/transport/types.ts';
import {
  buildSchema,
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { withVerbatim } from '../document/literals.ts';
import { namedType } from '../schema/definitions.ts';
import { type Data, merge } from './merge.ts';
import { lookUpSteps, written } from './pace.ts';
import { addErrors, type Steps } from './places.ts';
import { endFetch, objectsAt, type PlacedObject, type PlanRun, refuse } from './run.direct.ts';
import { ask, copyOf, distinct } from './together.ts';

/** A plan with what Apollo's execution reads beside it. */
export type ApolloPlan = {
  plan: QueryPlan;
  document: DocumentNode;
  /** The whole graph, hidden fields included. */
  supergraph(): GraphQLSchema;
};

/** All that an operation needs that selects nothing. */
const ROOTS_SDL = 'type Query { _: Boolean } type Mutation { _: Boolean }';
const ROOTS = { schema: buildSchema(ROOTS_SDL), apiSchema: buildApolloSchema(ROOTS_SDL) };

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Of an item of a list, beside direct plans: Apollo's execution goes through all of it at once. */
const WORK_OF_ITEM = 20;

const FAULT = 'INTERNAL_SERVER_ERROR';
const ERROR = { message: ERRORS[FAULT].message, extensions: { code: FAULT } } as const;

/**
 * Runs a plan. What goes wrong is in `run.errors`, never a rejection: a mutation may have changed
 * something. Apollo's execution shapes nothing: one value of a wrong type would fail all of it.
 */
export async function runApolloPlan(apollo: ApolloPlan, run: PlanRun): Promise<void> {
  const { plan, document } = apollo;
  const { schema, apiSchema } = ROOTS;
  const { variables } = run;
  const request = { request: { variables }, context: {}, metrics: {}, logger: SILENT };
  const { errors } = await executeQueryPlan(
    plan,
    createServices(run, plan.node),
    // Cast: this is all that execution reads of a request.
    request as unknown as Parameters<typeof executeQueryPlan>[2],
    buildOperationContext({ schema, operationDocument: withoutFields(document) }),
    apollo.supergraph(),
    apiSchema,
  );
  if (errors !== undefined) addErrors(run.errors, { errors: [ERROR] }, undefined);
}

/** What is left decides conditions. */
function withoutFields({ definitions }: DocumentNode): DocumentNode {
  const operation = definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  if (operation === undefined) throw new Error('a planned document has an operation');
  const { variableDefinitions: all = [] } = operation;
  const variableDefinitions = all.filter(({ type }) => namedType(type) === 'Boolean');
  const bare = { ...operation, variableDefinitions, selectionSet: TYPE_NAME_ONLY };
  return { kind: Kind.DOCUMENT, definitions: [bare] };
}

const TYPE_NAME_ONLY: SelectionSetNode = {
  kind: Kind.SELECTION_SET,
  selections: [{ kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } }],
};

/** The subgraphs as Apollo's execution calls them. It sees no errors: `run` takes them all. */
function createServices(run: PlanRun, node: QueryPlan['node']): ServiceMap {
  const services: ServiceMap = {};
  const plan = { passes: passesOf(node), paths: pathsOf(node) };
  for (const [name, transport] of Object.entries(run.transports))
    services[name] = { process: createProcess(name, transport, run, plan) };
  return services;
}

/** Where the plan looks for objects; '@' is every item of a list. */
function pathsOf(node: QueryPlan['node'] | PlanNode, before: readonly string[] = []): string[][] {
  switch (node?.kind) {
    case 'Flatten': {
      const path = [...before, ...node.path.map(String)];
      return [path, ...pathsOf(node.node, path)];
    }
    case 'Sequence':
    case 'Parallel':
      return node.nodes.flatMap((each) => pathsOf(each, before));
    case 'Condition':
      return [node.ifClause, node.elseClause].flatMap((each) => pathsOf(each, before));
    default:
      return [];
  }
}

/**
 * A value with null, and an error, in place of what is no list or no object where a path goes on.
 * It is changed in place.
 */
function passable(
  value: unknown,
  path: readonly string[],
  at: readonly (string | number)[],
  errors: SubgraphError[],
): unknown {
  const [step, ...rest] = path;
  if (step === undefined || value === undefined || value === null) return value;
  if (step === '@' ? !Array.isArray(value) : !isJsonObject(value)) {
    errors.push({ ...ERROR, path: [...at] });
    return null;
  }
  if (Array.isArray(value))
    for (const [place, item] of value.entries())
      value[place] = passable(item, rest, [...at, place], errors);
  else if (isJsonObject(value) && Object.hasOwn(value, step))
    value[step] = passable(value[step], rest, [...at, step], errors);
  return value;
}

/**
 * How often the fetches may go through all lists: once to find objects, and for each type that they
 * know by other fields or names, which takes twice as long.
 */
function passesOf(node: QueryPlan['node'] | PlanNode): number {
  switch (node?.kind) {
    case 'Fetch': {
      const { requires = [], inputRewrites = [], outputRewrites = [] } = node;
      return 1 + 2 * (requires.length + inputRewrites.length + outputRewrites.length);
    }
    case 'Flatten':
      return passesOf(node.node);
    case 'Sequence':
    case 'Parallel':
      return node.nodes.reduce((sum, each) => sum + passesOf(each), 0);
    case 'Condition':
      return passesOf(node.ifClause) + passesOf(node.elseClause);
    default:
      return 0;
  }
}

function itemsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let items = Array.isArray(value) ? value.length : 0;
  for (const each of Object.values(value)) items += itemsIn(each);
  return items;
}

/**
 * The data of the run gets the same objects as that of Apollo's execution, which merges all
 * responses into those of the first one.
 */
function createProcess(
  name: string,
  transport: Transport,
  run: PlanRun,
  plan: { passes: number; paths: readonly string[][] },
): ServiceMap[string]['process'] {
  const { caller, requestId, sandboxNow, errors, trace: parent, data: root } = run;

  async function process(options: Parameters<ServiceMap[string]['process']>[0]) {
    const { variables = {}, operationName } = options.request;
    const asked = options.request.query ?? '';
    const query = withVerbatim(asked, variables, run.pace.writeLiteral);
    const path = 'pathInIncomingRequest' in options ? (options.pathInIncomingRequest ?? []) : [];
    const all = Array.isArray(variables.representations) ? variables.representations : undefined;
    // Before other responses change the data.
    const placed = all && objectsOf(all, objectsAt(run, path.map(String)));
    const waiting = run.pace.fetch(transport.isLocal);
    if (waiting !== undefined) await waiting;
    const once = all && (await distinct(all, run));
    if (once !== undefined) variables.representations = once.representations;
    run.pace.write(written(variables));
    const trace = parent?.child(`subgraph ${name}`, 'client');
    const request: SubgraphRequest = {
      query,
      variables,
      operationName,
      caller,
      requestId,
      sandboxNow,
      // Only the plan knows which types the entities may have.
      entityTypes: once?.representations.map(() => undefined),
      reading: isBuiltIn(name) ? undefined : run.pace,
      trace,
    };
    const response = await ask(name, transport, request, run);
    if (trace !== undefined) endFetch(trace, response);
    const places = once ? () => placesOf(placed ?? [], once.indexes) : asked;
    addErrors(errors, response, places, name);
    const { data = null } = response;
    run.pace.work(WORK_OF_ITEM * plan.passes * itemsIn(data));
    await run.pace.pause();
    const impassable: SubgraphError[] = [];
    for (const each of plan.paths)
      if (path.every((step, depth) => each[depth] === String(step)))
        passable(
          data,
          [...(once ? ['_entities', '@'] : []), ...each.slice(path.length)],
          [],
          impassable,
        );
    addErrors(errors, { data, errors: impassable }, places, name);
    if (once === undefined && data !== null) merge(root, data);
    if (once === undefined || data === null) return { data };
    const entities = data._entities;
    if (Array.isArray(entities) && entities.length === once.representations.length) {
      const all = repeated(entities, once.indexes, run);
      if (!all.includes(undefined)) return { data: { _entities: all } };
    }
    addErrors(errors, unavailable(), places, name);
    return { data: null };
  }

  return (options) =>
    process(options).catch((error) => {
      refuse(error, run);
      return { data: null };
    });
}

/** The places of each representation, of whose `indexes` there is one for each object. */
function placesOf(placed: readonly PlacedObject[], indexes: readonly number[]): Steps[][] {
  const places: Steps[][] = [];
  for (const [place, index] of indexes.entries()) {
    places[index] ??= [];
    places[index].push(placed[place]?.path);
  }
  return places;
}

/**
 * An entity for each of all representations, since Apollo's execution changes each; undefined if
 * the run has copied too much.
 */
function repeated(
  entities: readonly unknown[],
  indexes: readonly number[],
  run: PlanRun,
): unknown[] {
  const used = new Set<number>();
  return indexes.map((index) => {
    const isFirst = !used.has(index);
    used.add(index);
    return isFirst ? entities[index] : copyOf(entities[index], run);
  });
}

/** The objects that representations stand for: some objects are of types that have none. */
function objectsOf(
  representations: readonly Data[],
  objects: readonly PlacedObject[],
): PlacedObject[] {
  const isName = (name: unknown) => typeof name === 'string' && lookUpSteps(name) === 0;
  const typeNames = new Set(objects.map(({ object }) => object.__typename).filter(isName));
  let next = 0;
  return objects.filter(({ object }) => {
    const representation = representations[next];
    if (representation === undefined || !represents(representation, object, typeNames))
      return false;
    next += 1;
    return true;
  });
}

function represents(representation: Data, object: Data, typeNames: ReadonlySet<unknown>): boolean {
  return Object.entries(representation).every(([name, value]) => {
    // An interface object is represented by the name of the interface, which no object has.
    if (name === '__typename') return value === object.__typename || !typeNames.has(value);
    return typeof value === 'object' ? isJsonObject(object) : value === object[name];
  });
}
