// A federated graph as data, for tests of the executor: schemas, and the objects behind them.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import type {
  SubgraphRequest,
  SubgraphResponse,
  Transport,
} from '@partner-loyalty/runtime/transport/types.ts';
import {
  type ConstDirectiveNode,
  execute,
  type GraphQLSchema,
  graphql,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  print,
} from 'graphql';

export type Data = Record<string, unknown>;

/** A field's value is a value, or a method with the field's arguments as its parameter. */
export type TestSubgraph = {
  /** The schema without its @link. */
  sdl: string;
  /** The values of the root fields. */
  roots?: Data;
  /** What references to entities of a type lead to. */
  entities?: Record<string, readonly Data[]>;
};

export type TestGraph = {
  subgraphs: Record<string, TestSubgraph>;
  /** Values for generated arguments, by the argument's name. */
  values?: Record<string, readonly unknown[]>;
  /** Operations that are not left to chance. */
  operations?: readonly string[];
  /** Why there are no other operations. */
  writtenOnly?: string;
  /** What stock execution answers wrong, and why; the data is what is right. */
  stockIsWrong?: readonly { query: string; data: Data | null; why: string }[];
};

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: [
  "@external", "@inaccessible", "@interfaceObject", "@key", "@override", "@provides", "@requires",
  "@shareable", "@tag"])`;

/** Composes a graph, and answers for its subgraphs with graphql-js. */
export function openGraph({ subgraphs }: TestGraph): {
  supergraph: string;
  transports: Record<string, Transport>;
} {
  const definitions = Object.entries(subgraphs).map(([name, { sdl }]) => ({
    name,
    url: `http://${name}`,
    typeDefs: parse(`${LINK}\n${sdl}`),
  }));
  const { supergraphSdl, errors } = composeServices(definitions);
  if (errors !== undefined || supergraphSdl === undefined) throw errors?.[0];
  const transports = definitions.map(({ name, typeDefs }) => {
    const { roots = {}, entities = {} } = subgraphs[name] ?? {};
    const bare = buildSubgraphSchema({ typeDefs });
    const resolvers = referenceResolvers(bare, entities);
    const schema = buildSubgraphSchema({ typeDefs, resolvers });
    return [name, createTransport(schema, roots)] as const;
  });
  return { supergraph: supergraphSdl, transports: Object.fromEntries(transports) };
}

/** Executes with graphql-js. Errors have the code INTERNAL_SERVER_ERROR. */
export function createTransport(schema: GraphQLSchema, rootValue: unknown = {}): Transport {
  return {
    execute: async ({ query, variables, operationName }: SubgraphRequest) => {
      const document = parse(query);
      const answer = await execute({
        schema,
        document,
        rootValue,
        variableValues: variables,
        operationName,
      });
      const errors = answer.errors?.map(({ message, path }) => ({
        message,
        ...(path && { path }),
        extensions: { code: 'INTERNAL_SERVER_ERROR' as const },
      }));
      const reply: SubgraphResponse = JSON.parse(JSON.stringify({ data: answer.data, errors }));
      return reply;
    },
    ready: async () => {},
    close: async () => {},
  };
}

function referenceResolvers(
  schema: GraphQLSchema,
  entities: Readonly<Record<string, readonly Data[]>>,
) {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => (isObjectType(type) || isInterfaceType(type)) && !type.name.startsWith('_'),
  );
  return Object.fromEntries(
    types.map((type) => {
      const names = isAbstractType(type) ? schema.getPossibleTypes(type) : [type];
      const known = names.flatMap(({ name }) =>
        (entities[name] ?? []).map((entity): Data => ({ __typename: name, ...entity })),
      );
      const keys = resolvableKeys(type.astNode?.directives ?? []);
      const __resolveReference = (reference: Data) =>
        keys.some((key) => key.every((field) => field in reference))
          ? referred(known, reference)
          : null;
      return [type.name, { __resolveReference }];
    }),
  );
}

/** The fields of each key of a type that leads to its entities. */
function resolvableKeys(directives: readonly ConstDirectiveNode[]): string[][] {
  return directives
    .filter(({ name }) => name.value === 'key')
    .filter((key) => !/resolvable: false/.test(print(key)))
    .map(({ arguments: args = [] }) => {
      const fields = args.find(({ name }) => name.value === 'fields')?.value;
      const text = fields?.kind === Kind.STRING ? fields.value : '';
      return text.replace(/\{[^}]*\}/g, '').match(/\w+/g) ?? [];
    });
}

/** The entity that a reference leads to, with the fields that the reference brings along. */
function referred(known: readonly Data[], reference: Data): Data | null {
  const found = known.find((entity) => agrees(entity, reference));
  return found ? merged(reference, found) : null;
}

/** Whether no value of the reference is another one in the entity. */
function agrees(entity: Data, reference: Data): boolean {
  return Object.entries(reference).every(([name, value]) => {
    const own = entity[name];
    if (name === '__typename' || own === undefined || typeof own === 'function') return true;
    if (isData(own) && isData(value)) return agrees(own, value);
    return typeof value === 'object' ? true : own === value;
  });
}

function merged(reference: Data, entity: Data): Data {
  const result: Data = { ...reference };
  for (const [name, own] of Object.entries(entity)) {
    const brought = reference[name];
    result[name] = isData(own) && isData(brought) ? merged(brought, own) : own;
  }
  return result;
}

function isData(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export type PlainSubgraph = {
  url: string;
  /** The scopes and queries that it was sent. */
  asked: string[];
  /** Is done before a response. */
  meanwhile: (() => Promise<void>) | undefined;
  /** Serves another schema; `rootValue` answers its root fields, `entities` references. */
  serve(sdl: string, rootValue?: unknown, entities?: TestSubgraph['entities']): void;
  close(): void;
};

type Operation = { query: string; variables?: Record<string, unknown> };

export async function startSubgraph(sdl: string, rootValue?: unknown): Promise<PlainSubgraph> {
  let schema: GraphQLSchema;
  let root: unknown;
  const asked: string[] = [];
  const server: Server = createServer(async (request, response) => {
    // Cast: the gateway sends nothing else.
    const body = (await json(request)) as Operation | Operation[];
    await subgraph.meanwhile?.();
    const what = Array.isArray(body) ? `${body.length} operations` : body.query;
    asked.push(`${request.headers['partner-loyalty-scope']} ${what}`);
    response.setHeader('content-type', 'application/graphql-response+json');
    const answerTo = ({ query, variables }: Operation) =>
      graphql({ schema, source: query, rootValue: root, variableValues: variables });
    const answer = Array.isArray(body) ? Promise.all(body.map(answerTo)) : answerTo(body);
    response.end(JSON.stringify(await answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const subgraph: PlainSubgraph = {
    url: `http://127.0.0.1:${port}/graphql`,
    asked,
    meanwhile: undefined,
    serve(text, value, entities) {
      const typeDefs = parse(text);
      const bare = buildSubgraphSchema({ typeDefs });
      const resolvers = entities && referenceResolvers(bare, entities);
      schema = resolvers ? buildSubgraphSchema({ typeDefs, resolvers }) : bare;
      root = value;
    },
    close: () => server.close(),
  };
  subgraph.serve(sdl, rootValue);
  return subgraph;
}
