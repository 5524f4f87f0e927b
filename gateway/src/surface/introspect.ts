// Executes introspection on a surface's own schema, and stops a response that gets too large.
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';
import type { ResponseSize } from '../operation/responsesize.ts';
import { createCollect } from './collect.ts';

type Data = Record<string, unknown>;
type Resolve = (source: unknown) => unknown;

/** Every field of introspection that is not a field of an introspection type. */
const META_FIELDS: Readonly<Record<string, GraphQLField<unknown, unknown>>> = {
  __schema: SchemaMetaFieldDef,
  __type: TypeMetaFieldDef,
  __typename: TypeNameMetaFieldDef,
};

/**
 * The response to the introspection of a validated document with one query. `variables` are
 * coerced. graphql-js resolves the fields, but it would build a response of any size. Throws
 * OPERATION_TOO_COMPLEX if the response gets too large.
 */
export function introspect(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Data,
  size: ResponseSize,
): Data {
  const collect = createCollect(schema, document, variables);
  // Cast: resolvers of introspection read nothing else.
  const info = { schema } as GraphQLResolveInfo;

  function compileObject(
    type: GraphQLObjectType,
    sets: readonly SelectionSetNode[],
  ): (source: unknown) => Data {
    const fields = Array.from(collect(type, sets), ([responseKey, nodes]) =>
      compileField(type, responseKey, nodes),
    );
    return (source) => {
      const result: Data = Object.create(null);
      for (const { responseKey, resolve } of fields) {
        size.add(responseKey.length + 4);
        result[responseKey] = resolve(source);
      }
      return result;
    };
  }

  function compileField(
    type: GraphQLObjectType,
    responseKey: string,
    nodes: readonly FieldNode[],
  ): { responseKey: string; resolve: Resolve } {
    const [node] = nodes;
    const name = node?.name.value ?? '';
    if (name === '__typename') return { responseKey, resolve: () => counted(type.name) };
    const field = META_FIELDS[name] ?? type.getFields()[name];
    if (node === undefined || field?.resolve === undefined)
      throw new Error(`introspection has no field ${type.name}.${name}`);
    const { resolve } = field;
    const args = getArgumentValues(field, node, variables);
    const complete = compileType(
      field.type,
      nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
    );
    return { responseKey, resolve: (source) => complete(resolve(source, args, undefined, info)) };
  }

  function compileType(type: GraphQLOutputType, sets: readonly SelectionSetNode[]): Resolve {
    if (isNonNullType(type)) return compileType(type.ofType, sets);
    const complete = compileNullable(type, sets);
    return (value) => (value === null || value === undefined ? null : complete(value));
  }

  function compileNullable(type: GraphQLOutputType, sets: readonly SelectionSetNode[]): Resolve {
    if (isLeafType(type)) return (value) => counted(type.serialize(value));
    if (isObjectType(type)) return compileObject(type, sets);
    if (!isListType(type)) throw new Error('introspection has no abstract types');
    const complete = compileType(type.ofType, sets);
    return (value) => {
      if (!Array.isArray(value)) throw new Error('introspection resolves lists to arrays');
      size.add(value.length + 2);
      return value.map(complete);
    };
  }

  function counted(value: unknown): unknown {
    if (typeof value === 'string') size.addString(value);
    else size.addValue(value);
    return value;
  }

  const query = schema.getQueryType();
  const operation = document.definitions.find((node) => node.kind === 'OperationDefinition');
  if (!query || operation === undefined) throw new Error('introspection is a query');
  return compileObject(query, [operation.selectionSet])(undefined);
}
