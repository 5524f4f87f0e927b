// Builds the schema of a subgraph: its types and resolvers, and what federation adds to them.
//
// @apollo/subgraph does the same with the library that composes graphs, whose loading and work are
// a tenth of the CPU time of a start.
import {
  buildASTSchema,
  concatAST,
  type DocumentNode,
  type GraphQLFieldResolver,
  type GraphQLNamedType,
  type GraphQLSchema,
  isObjectType,
  isScalarType,
  isUnionType,
  Kind,
  parse,
} from 'graphql';

type Resolvers = Readonly<Record<string, unknown>>;

/** The schema of a document that composes, with resolvers by type and field. */
export function buildSubgraphSchema(sdl: string, resolvers: object): GraphQLSchema {
  const own = parse(sdl, { noLocation: true });
  const added = parse(federationTypes(own), { noLocation: true });
  const schema = buildASTSchema(concatAST([own, added]), { assumeValidSDL: true });
  const all: [string, Resolvers][] = [
    ...Object.entries(resolvers),
    ['Query', { _service: () => ({ sdl }) }],
    ['_Entity', { __resolveType: (entity: { __typename?: string }) => entity.__typename }],
  ];
  for (const [name, resolversOfType] of all) addResolvers(schema.getType(name), resolversOfType);
  return schema;
}

/** The types that other subgraphs can refer to. */
function entitiesOf({ definitions }: DocumentNode): string[] {
  return definitions.flatMap((type) =>
    type.kind === Kind.OBJECT_TYPE_DEFINITION &&
    type.directives?.some(({ name }) => name.value === 'key')
      ? [type.name.value]
      : [],
  );
}

/** From the subgraph specification: https://www.apollographql.com/docs/federation/subgraph-spec */
function federationTypes(own: DocumentNode): string {
  const hasQuery = own.definitions.some((type) => 'name' in type && type.name?.value === 'Query');
  const service = `type _Service { sdl: String }
    ${hasQuery ? 'extend ' : ''}type Query { _service: _Service! }`;
  const entities = entitiesOf(own);
  if (entities.length === 0) return service;
  return `${service}
    scalar _Any
    union _Entity = ${entities.join(' | ')}
    extend type Query { _entities(representations: [_Any!]!): [_Entity]! }`;
}

function addResolvers(type: GraphQLNamedType | undefined, resolvers: Resolvers): void {
  if (isScalarType(type)) {
    const { serialize, parseValue, parseLiteral } = resolvers;
    Object.assign(type, { serialize, parseValue, parseLiteral });
  } else if (isUnionType(type)) {
    Object.assign(type, { resolveType: resolvers.__resolveType });
  } else if (isObjectType(type)) {
    const { __resolveReference: resolveReference, ...ofFields } = resolvers;
    // Where the executor looks for it.
    type.extensions = { apollo: { subgraph: { resolveReference } } };
    const fields = type.getFields();
    for (const [name, resolve] of Object.entries(ofFields)) {
      const field = fields[name];
      if (field === undefined) throw new Error(`there is no field ${type.name}.${name}`);
      // Cast: the generated types of resolvers have checked it.
      field.resolve = resolve as GraphQLFieldResolver<unknown, unknown>;
    }
  }
}
