// Executes introspection on a surface's own schema, and stops a response that gets too large.
import { prepareOperation } from '@partner-loyalty/runtime/subgraph/execute.ts';
import {
  __InputValue,
  type DocumentNode,
  defaultFieldResolver,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLInputField,
  type GraphQLSchema,
  print,
  type ValueNode,
} from 'graphql';
import type { ResponseSize } from '../document/responsesize.ts';

type Resolve = GraphQLFieldResolver<unknown, unknown>;

/**
 * The response to the introspection of a validated document with one query and variables that fit
 * it. Throws OPERATION_TOO_COMPLEX if the response gets too large.
 */
export function introspect(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Record<string, unknown>,
  size: ResponseSize,
): Record<string, unknown> {
  const execute = prepareOperation(schema, document, undefined, (field) => counted(field, size));
  const outcome = execute(undefined, variables);
  if (outcome instanceof Promise) throw new Error('introspection awaits nothing');
  const [failure] = outcome.failures;
  if (failure !== undefined) throw failure.cause;
  return outcome.data ?? {};
}

/** Once the response is too large, all that is left of it throws. */
function counted(field: GraphQLField<unknown, unknown>, size: ResponseSize): Resolve {
  const resolve =
    field === DEFAULT_VALUE ? writtenDefault : (field.resolve ?? defaultFieldResolver);
  return (source, args, context, info) => {
    size.add(String(info.path.key).length + 4);
    const value = resolve(source, args, context, info);
    count(value, size);
    return value;
  };
}

// graphql-js cannot write a default value of a custom scalar that is an object.
const DEFAULT_VALUE = __InputValue.getFields().defaultValue;

/** Each is written once: a request has as many aliases as it likes, and some take 30 ms. */
const written = new WeakMap<ValueNode, string>();

function writtenDefault(source: unknown): string | null {
  // Cast: graphql-js resolves inputs to arguments and input fields.
  const { astNode } = source as GraphQLArgument | GraphQLInputField;
  const node = astNode?.defaultValue;
  if (node === undefined) return null;
  const text = written.get(node) ?? print(node);
  written.set(node, text);
  return text;
}

/** Objects are counted by their fields. */
function count(value: unknown, size: ResponseSize): void {
  if (typeof value === 'string') size.addString(value);
  else if (typeof value === 'boolean') size.addValue(value);
  else if (Array.isArray(value)) {
    size.add(value.length + 2);
    for (const item of value) count(item, size);
  }
}
