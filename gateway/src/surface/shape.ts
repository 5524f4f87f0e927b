// Shapes subgraph data into the response that the document selects.
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { responseName } from './alias.ts';
import { type Collect, createCollect } from './collect.ts';

export type Path = readonly (string | number)[];
type Data = Record<string, unknown>;

/**
 * Shapes data. Calls `violation` with the path of each null that the schema forbids and of each
 * value that it does not have.
 */
export type Shape = (data: Data, violation: (path: Path) => void) => Data | null;

/** A path as a list linked from its end, so that going down copies nothing. */
type Steps = { before: Steps; step: string | number } | undefined;
type Completer = (value: unknown, path: Steps, violation: (path: Path) => void) => unknown;
type Compilation = { schema: GraphQLSchema; collect: Collect };
type Sets = readonly SelectionSetNode[];

/**
 * Compiles the only operation of a validated document with guarded aliases (alias.ts). A shape is
 * for one set of values of the variables that decide `@skip` and `@include`. Neither the document
 * nor the data can reach an object's prototype.
 */
export function compileShape(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Data,
): Shape {
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  const root = operation && schema.getRootType(operation.operation);
  if (operation === undefined || !root)
    throw new Error('a validated document has an operation with a root type');
  const compilation = { schema, collect: createCollect(schema, document, variables) };
  const complete = compileObject(compilation, root, [operation.selectionSet]);
  // An object type completes to an object or null.
  return (data, violation) => complete(data, undefined, violation) as Data | null;
}

function compileObject(compilation: Compilation, type: GraphQLObjectType, sets: Sets): Completer {
  const fields = Array.from(compilation.collect(type, sets), ([name, nodes]) =>
    compileField(compilation, type, name, nodes),
  );
  return (value, path, violation) => {
    if (typeof value !== 'object' || value === null) return nullFor(path, violation);
    const data = value as Data;
    const result: Data = Object.create(null);
    for (const { name, responseKey, nonNull, complete } of fields) {
      const own = Object.hasOwn(data, name) ? data[name] : undefined;
      const completed = complete(own ?? null, path, violation);
      if (completed === null && nonNull) return null;
      result[responseKey] = completed;
    }
    return result;
  };
}

function compileField(
  compilation: Compilation,
  type: GraphQLObjectType,
  name: string,
  nodes: readonly FieldNode[],
) {
  const field = nodes[0]?.name.value ?? '';
  const responseKey = responseName(name);
  if (field === '__typename')
    return { name, responseKey, nonNull: true, complete: () => type.name };
  const definition = type.getFields()[field];
  if (definition === undefined)
    throw new Error(`a validated document selects ${type.name}.${field}`);
  const sets = nodes.flatMap((node) => node.selectionSet ?? []);
  const complete = compileType(compilation, definition.type, sets);
  const nonNull = isNonNullType(definition.type);
  return { name, responseKey, nonNull, complete: under(responseKey, complete) };
}

function compileType(compilation: Compilation, type: GraphQLOutputType, sets: Sets): Completer {
  if (isNonNullType(type)) {
    const complete = compileType(compilation, type.ofType, sets);
    // A null that comes from a nested field has been reported there.
    return (value, path, violation) =>
      value === null ? nullFor(path, violation) : complete(value, path, violation);
  }
  if (isListType(type))
    return compileList(type.ofType, compileType(compilation, type.ofType, sets));
  if (isObjectType(type)) return nullable(compileObject(compilation, type, sets));
  if (isAbstractType(type)) return nullable(compileAbstract(compilation, type, sets));
  if (isEnumType(type))
    return nullable((value, path, violation) =>
      type.getValue(String(value)) ? value : nullFor(path, violation),
    );
  return (value) => value;
}

function compileAbstract(
  compilation: Compilation,
  type: GraphQLCompositeType,
  sets: Sets,
): Completer {
  const { schema } = compilation;
  const byTypeName = new Map<unknown, Completer>();
  return (value, path, violation) => {
    const name = (value as Data).__typename;
    const found = typeof name === 'string' ? schema.getType(name) : undefined;
    if (!isObjectType(found) || !isAbstractType(type) || !schema.isSubType(type, found))
      return nullFor(path, violation);
    const complete = byTypeName.get(name) ?? compileObject(compilation, found, sets);
    byTypeName.set(name, complete);
    return complete(value, path, violation);
  };
}

function compileList(item: GraphQLOutputType, complete: Completer): Completer {
  const nonNull = isNonNullType(item);
  return nullable((value, before, violation) => {
    if (!Array.isArray(value)) return nullFor(before, violation);
    const completed = value.map((each: unknown, step) =>
      complete(each ?? null, { before, step }, violation),
    );
    return nonNull && completed.includes(null) ? null : completed;
  });
}

function under(step: string, complete: Completer): Completer {
  return (value, before, violation) => complete(value, { before, step }, violation);
}

function nullable(complete: Completer): Completer {
  return (value, path, violation) => (value === null ? null : complete(value, path, violation));
}

function nullFor(path: Steps, violation: (path: Path) => void): null {
  const steps: (string | number)[] = [];
  for (let at = path; at !== undefined; at = at.before) steps.unshift(at.step);
  violation(steps);
  return null;
}
