// Runs plans with @apollo/gateway's own execution: those that runDirectPlan is not made for.
// Apollo's libraries load slowly, and direct plans need none: import this file on use.
import { buildSchema as buildApolloSchema } from '@apollo/federation-internals';
import { buildOperationContext, executeQueryPlan, type ServiceMap } from '@apollo/gateway';
import type { QueryPlan } from '@apollo/query-planner';
import { isJsonObject } from '@partner-loyalty/runtime/input.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import {
  type Data,
  endFetch,
  objectsAt,
  type PlacedObject,
  type PlanRun,
  placedErrors,
} from './run.direct.ts';
import type { Path } from './shape.ts';

/** A plan with what Apollo's execution reads beside it. */
export type ApolloPlan = {
  plan: QueryPlan;
  document: DocumentNode;
  apolloSchemas(): Promise<ApolloSchemas>;
};

export type ApolloSchemas = {
  /** What callers see, in the two forms of it. */
  schema: GraphQLSchema;
  apiSchema: Parameters<typeof executeQueryPlan>[5];
  /** The whole graph, hidden fields included. */
  supergraph: GraphQLSchema;
};

/** `api` is what callers see, also as `schema`. */
export function buildApolloSchemas(
  api: string,
  schema: GraphQLSchema,
  supergraph: GraphQLSchema,
): ApolloSchemas {
  return { schema, apiSchema: buildApolloSchema(api), supergraph };
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Runs a plan. The data is shaped by the planned operation, or null if a null has reached the root;
 * the violations are the paths in it of nulls and values that the schema does not allow. What goes
 * wrong in a subgraph is in `run.errors`, never a rejection; rejects if the plan cannot be run.
 */
export async function runApolloPlan(
  apollo: ApolloPlan,
  run: PlanRun,
): Promise<{ data: Data | null; violations: Path[] }> {
  const { plan, document } = apollo;
  const { schema, apiSchema, supergraph } = await apollo.apolloSchemas();
  const { variables } = run;
  const request = { request: { variables }, context: {}, metrics: {}, logger: SILENT };
  const { data, errors, extensions } = await executeQueryPlan(
    plan,
    createServices(run),
    // Cast: this is all that execution reads of a request.
    request as unknown as Parameters<typeof executeQueryPlan>[2],
    buildOperationContext({ schema, operationDocument: document }),
    supergraph,
    apiSchema,
  );
  if (errors !== undefined) throw errors[0]?.originalError ?? errors[0];
  const incomplete: { path?: Path }[] = extensions?.valueCompletion ?? [];
  return { data: data ?? null, violations: incomplete.map(({ path = [] }) => path) };
}

/** The subgraphs as Apollo's execution calls them. It sees no errors: `run` takes them all. */
function createServices(run: PlanRun): ServiceMap {
  const root: Data = Object.create(null);
  const services: ServiceMap = {};
  for (const [name, transport] of Object.entries(run.transports))
    services[name] = { process: createProcess(name, transport, run, root) };
  return services;
}

/**
 * `root` has the same objects as the data of Apollo's execution, which merges all responses into
 * those of the first one: the representations of a fetch do not say which objects they stand for,
 * and the paths of errors depend on it.
 */
function createProcess(
  name: string,
  transport: Transport,
  { caller, requestId, sandboxNow, errors, trace: parent }: PlanRun,
  root: Data,
): ServiceMap[string]['process'] {
  return async (options) => {
    const { query = '', variables = {}, operationName } = options.request;
    const path = 'pathInIncomingRequest' in options ? (options.pathInIncomingRequest ?? []) : [];
    // Callers may name a variable of theirs like that.
    const representations = query.includes('_entities(') ? variables.representations : undefined;
    const objects = Array.isArray(representations)
      ? objectsOf(representations, objectsAt(root, path.map(String)))
      : undefined;
    // Only the plan knows which types the entities may have.
    const entityTypes = Array.isArray(representations)
      ? representations.map(() => undefined)
      : undefined;
    const trace = parent?.child(`subgraph ${name}`, 'client');
    const response = await transport.execute({
      query,
      variables,
      operationName,
      caller,
      requestId,
      sandboxNow,
      entityTypes,
      trace,
    });
    if (trace !== undefined) endFetch(trace, response);
    for (const error of response.errors ?? []) errors.push(...placedErrors(error, objects));
    const { data = null } = response;
    if (objects === undefined)
      for (const key of Object.keys(data ?? {}))
        if (!Object.hasOwn(root, key)) Object.assign(root, { [key]: data?.[key] });
    return { data };
  };
}

/** The objects that representations stand for: some objects are of types that have none. */
function objectsOf(
  representations: readonly Data[],
  objects: readonly PlacedObject[],
): PlacedObject[] {
  const typeNames = new Set(objects.map(({ object }) => object.__typename));
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
