// Shapes what the subgraphs gave into the answer the document asked for: its fields in its order, nulls where the schema lets them stand.
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
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
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { responseName } from './alias.ts';

export type Path = readonly (string | number)[];
type Data = Record<string, unknown>;

/** Shapes data; `missing` is called with the path of each null that the schema forbids and of each value it does not know. */
export type Shape = (data: Data, missing: (path: Path) => void) => Data | null;

/**
 * Compiles the only operation of a validated document with guarded aliases (alias.ts). `variables` decide @skip and @include: a shape fits every request in which those have
 * the same values. Neither the document nor the data can reach an object's prototype.
 */
export function compileShape(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Data,
): Shape {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  const root = operation && schema.getRootType(operation.operation);
  if (operation === undefined || !root)
    throw new Error('a validated document has an operation with a root type');

  const included = ({ directives = [] }: SelectionNode) =>
    directives.every(({ name, arguments: [condition] = [] }) => {
      if (name.value !== 'skip' && name.value !== 'include') return true;
      const value = condition?.value;
      const holds =
        value?.kind === Kind.VARIABLE
          ? variables[value.name.value] === true
          : value?.kind === Kind.BOOLEAN && value.value;
      return holds === (name.value === 'include');
    });

  /** The fields asked of an object type, merged by response name (GraphQL, section 6.3.2). */
  function collect(
    type: GraphQLObjectType,
    sets: readonly SelectionSetNode[],
    found = new Map<string, FieldNode[]>(),
  ): Map<string, FieldNode[]> {
    for (const selection of sets.flatMap((set) => set.selections)) {
      if (!included(selection)) continue;
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value;
        found.set(name, [...(found.get(name) ?? []), selection]);
        continue;
      }
      const fragment =
        selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
      const condition =
        fragment?.typeCondition && schema.getType(fragment.typeCondition.name.value);
      const applies =
        !condition ||
        condition === type ||
        (isAbstractType(condition) && schema.isSubType(condition, type));
      if (fragment && applies) collect(type, [fragment.selectionSet], found);
    }
    return found;
  }

  function compileObject(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): Completer {
    const fields = [...collect(type, sets)].map(([name, nodes]) => compileField(type, name, nodes));
    return (value, path, missing) => {
      if (typeof value !== 'object' || value === null) return broken(path, missing);
      const data = value as Data;
      const result: Data = Object.create(null);
      for (const { name, shown, nonNull, complete } of fields) {
        const own = Object.hasOwn(data, name) ? data[name] : undefined;
        const completed = complete(own ?? null, path, missing);
        if (completed === null && nonNull) return null;
        result[shown] = completed;
      }
      return result;
    };
  }

  function compileField(type: GraphQLObjectType, name: string, nodes: readonly FieldNode[]) {
    const field = nodes[0]?.name.value ?? '';
    const shown = responseName(name);
    if (field === '__typename') return { name, shown, nonNull: true, complete: () => type.name };
    const definition = type.getFields()[field];
    if (definition === undefined)
      throw new Error(`a validated document asks for ${type.name}.${field}`);
    const sets = nodes.flatMap((node) => node.selectionSet ?? []);
    const complete = compileType(definition.type, sets);
    return {
      name,
      shown,
      nonNull: isNonNullType(definition.type),
      complete: under(shown, complete),
    };
  }

  function compileType(type: GraphQLOutputType, sets: readonly SelectionSetNode[]): Completer {
    if (isNonNullType(type)) {
      const complete = compileType(type.ofType, sets);
      // A null that a nested field brought about has been told where it arose.
      return (value, path, missing) =>
        value === null ? broken(path, missing) : complete(value, path, missing);
    }
    if (isListType(type)) return compileList(type.ofType, compileType(type.ofType, sets));
    if (isObjectType(type)) return nullable(compileObject(type, sets));
    if (isAbstractType(type)) return nullable(compileAbstract(type, sets));
    if (isEnumType(type))
      return nullable((value, path, missing) =>
        type.getValue(String(value)) ? value : broken(path, missing),
      );
    return (value) => value;
  }

  function compileAbstract(
    type: GraphQLCompositeType,
    sets: readonly SelectionSetNode[],
  ): Completer {
    const byName = new Map<unknown, Completer>();
    return (value, path, missing) => {
      const name = (value as Data).__typename;
      const found = typeof name === 'string' ? schema.getType(name) : undefined;
      if (!isObjectType(found) || !isAbstractType(type) || !schema.isSubType(type, found))
        return broken(path, missing);
      const complete = byName.get(name) ?? compileObject(found, sets);
      byName.set(name, complete);
      return complete(value, path, missing);
    };
  }

  const complete = compileObject(root, [operation.selectionSet]);
  // What completes an object is an object or null.
  return (data, missing) => complete(data, undefined, missing) as Data | null;
}

/** A path as a list from its end, so that nothing is copied on the way down. */
type Steps = { before: Steps; step: string | number } | undefined;
type Completer = (value: unknown, path: Steps, missing: (path: Path) => void) => unknown;

function broken(path: Steps, missing: (path: Path) => void): null {
  const steps: (string | number)[] = [];
  for (let at = path; at !== undefined; at = at.before) steps.unshift(at.step);
  missing(steps);
  return null;
}

function under(step: string, complete: Completer): Completer {
  return (value, before, missing) => complete(value, { before, step }, missing);
}

function nullable(complete: Completer): Completer {
  return (value, path, missing) => (value === null ? null : complete(value, path, missing));
}

function compileList(item: GraphQLOutputType, complete: Completer): Completer {
  const nonNull = isNonNullType(item);
  return nullable((value, before, missing) => {
    if (!Array.isArray(value)) return broken(before, missing);
    const completed = value.map((each: unknown, step) =>
      complete(each ?? null, { before, step }, missing),
    );
    return nonNull && completed.includes(null) ? null : completed;
  });
}
