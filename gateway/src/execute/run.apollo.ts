// Runs plans with @apollo/gateway's own execution: those that runDirectPlan is not made for.
// Apollo's libraries load slowly, and direct plans need none: import this file on use.
import { buildSchema as buildApolloSchema } from '@apollo/federation-internals';
import { buildOperationContext, executeQueryPlan, type ServiceMap } from '@apollo/gateway';
import type { PlanNode, QueryPlan } from '@apollo/query-planner';
import { ERRORS } from '@partner-loyalty/runtime/errors.ts';
import { isJsonObject } from '@partner-loyalty/runtime/input.ts';
import { isBuiltIn } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { unavailable } from '@partner-loyalty/runtime/transport/deadline.ts';
import type { SubgraphRequest, Transport } from '@partner-loyalty/runtime/transport/types.ts';
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
import { addErrors, type PlacedError, type Steps } from './places.ts';
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

/** Work for each item of a list through which the plan looks for objects, all at once. */
const WORK_OF_ITEM = 100;

const FAULT = 'INTERNAL_SERVER_ERROR';
const ERROR = { message: ERRORS[FAULT].message, extensions: { code: FAULT }, isMasked: true };

/**
 * Runs a plan. What goes wrong in a subgraph is in `run.errors`, never a rejection: a mutation may
 * have changed something. Rejects if the plan cannot be run.
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
  const paths = pathsOf(node);
  for (const [name, transport] of Object.entries(run.transports))
    services[name] = { process: createProcess(name, transport, run, paths) };
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
 * A value with null, and an error, in place of what is no list or no object where a path goes on:
 * Apollo's execution would fail as a whole. It is changed in place.
 */
function passable(
  value: unknown,
  path: readonly string[],
  at: readonly (string | number)[],
  found: { errors: PlacedError[]; items: number },
): unknown {
  const [step, ...rest] = path;
  if (step === undefined || value === undefined || value === null) return value;
  if (step === '@' ? !Array.isArray(value) : !isJsonObject(value)) {
    found.errors.push({ ...ERROR, path: [...at] });
    return null;
  }
  if (Array.isArray(value)) {
    found.items += value.length;
    for (const [place, item] of value.entries())
      value[place] = passable(item, rest, [...at, place], found);
  } else if (isJsonObject(value) && Object.hasOwn(value, step))
    value[step] = passable(value[step], rest, [...at, step], found);
  return value;
}

/**
 * The data of the run gets the same objects as that of Apollo's execution, which merges all
 * responses into those of the first one.
 */
function createProcess(
  name: string,
  transport: Transport,
  run: PlanRun,
  paths: readonly string[][],
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
    const found = { errors: [], items: 0 };
    for (const each of paths)
      if (path.every((step, depth) => each[depth] === String(step)))
        passable(
          data,
          [...(once ? ['_entities', '@'] : []), ...each.slice(path.length)],
          [],
          found,
        );
    addErrors(errors, { data, errors: found.errors }, places, name);
    if (once === undefined && data !== null) merge(root, data);
    run.pace.work(WORK_OF_ITEM * found.items);
    await run.pace.pause();
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
