// Executes introspection on a surface's own schema, and stops a response that gets too large.
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  print,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';
import type { ResponseSize } from '../document/responsesize.ts';
import { type Collect, createCollect } from './collect.ts';

type Data = Record<string, unknown>;
type Resolve = (source: unknown) => unknown;

type Execution = {
  collect: Collect;
  info: GraphQLResolveInfo;
  variables: Data;
  size: ResponseSize;
};

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
  const query = schema.getQueryType();
  const operation = document.definitions.find((node) => node.kind === 'OperationDefinition');
  if (!query || operation === undefined) throw new Error('introspection is a query');
  const execution = { collect, info, variables, size };
  return compileObject(execution, query, [operation.selectionSet])(undefined);
}

function compileObject(
  execution: Execution,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): (source: unknown) => Data {
  const { collect, size } = execution;
  const fields = Array.from(collect(type, sets), ([responseKey, nodes]) => ({
    responseKey,
    resolve: compileField(execution, type, nodes),
  }));
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
  execution: Execution,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): Resolve {
  const { info, variables, size } = execution;
  const [node] = nodes;
  const name = node?.name.value ?? '';
  if (name === '__typename') return () => counted(size, type.name);
  const field = META_FIELDS[name] ?? type.getFields()[name];
  if (node === undefined || field?.resolve === undefined)
    throw new Error(`introspection has no field ${type.name}.${name}`);
  // graphql-js cannot write a default value of a custom scalar that is an object.
  const isDefault = type.name === '__InputValue' && name === 'defaultValue';
  const resolve = isDefault ? writtenDefault : field.resolve;
  const args = getArgumentValues(field, node, variables);
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const complete = compileType(execution, field.type, sets);
  return (source) => complete(resolve(source, args, undefined, info));
}

function writtenDefault(source: unknown): string | null {
  // Cast: graphql-js resolves inputs to arguments and input fields.
  const { astNode } = source as GraphQLArgument | GraphQLInputField;
  return astNode?.defaultValue ? print(astNode.defaultValue) : null;
}

function compileType(
  execution: Execution,
  type: GraphQLOutputType,
  sets: readonly SelectionSetNode[],
): Resolve {
  if (isNonNullType(type)) return compileType(execution, type.ofType, sets);
  const complete = compileNullable(execution, type, sets);
  return (value) => (value === null || value === undefined ? null : complete(value));
}

function compileNullable(
  execution: Execution,
  type: GraphQLOutputType,
  sets: readonly SelectionSetNode[],
): Resolve {
  const { size } = execution;
  if (isLeafType(type)) return (value) => counted(size, type.serialize(value));
  if (isObjectType(type)) return compileObject(execution, type, sets);
  if (!isListType(type)) throw new Error('introspection has no abstract types');
  const complete = compileType(execution, type.ofType, sets);
  return (value) => {
    if (!Array.isArray(value)) throw new Error('introspection resolves lists to arrays');
    size.add(value.length + 2);
    return value.map(complete);
  };
}

/** The value, once its size is counted. */
function counted(size: ResponseSize, value: unknown): unknown {
  if (typeof value === 'string') size.addString(value);
  else size.addValue(value);
  return value;
}
