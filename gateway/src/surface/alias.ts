// Gives the fields of an operation names that the planner and the subgraphs can rely on.
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  Kind,
  OperationTypeNode,
  print,
  type SelectionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** An operation as the planner and the subgraphs see it. */
export type RenamedOperation = {
  document: DocumentNode;
  /** The response name in `document` of a field in the caller's document. */
  nameOf(field: FieldNode): string;
};

// The prefix of changed aliases. A caller's alias with this prefix is changed too, so that no two
// aliases become one.
const GUARD = 'as__';

/** The names of all fields in the graph, hidden ones included: the planner may add any of them. */
export function fieldNames(supergraph: GraphQLSchema): ReadonlySet<string> {
  const names = new Set<string>();
  for (const type of Object.values(supergraph.getTypeMap())) {
    if (isObjectType(type) || isInterfaceType(type))
      for (const name of Object.keys(type.getFields())) names.add(name);
  }
  return names;
}

/**
 * Renames the fields of a validated document:
 * - A leaf loses its alias, and a repeated leaf is selected once. So the cost of planning and
 *   fetching an operation depends on the fields of the graph, not on how often they are repeated.
 * - An alias that could be mistaken for a field is changed: a caller may alias any field as
 *   `memberId`, but the planner reads the key there.
 */
export function renameFields(
  document: DocumentNode,
  schema: GraphQLSchema,
  fields: ReadonlySet<string>,
): RenamedOperation {
  const isPlain = !hasAbstractTypes(document, schema) && !mutatesLeaves(document, schema);
  const leafNames = isPlain ? createLeafNames(fields) : undefined;
  const nameOf = (field: FieldNode): string =>
    field.selectionSet === undefined && leafNames !== undefined
      ? leafNames(field)
      : safeName(field, fields);
  const names = new Map<FieldNode, string>();
  visit(document, { Field: (field) => void names.set(field, nameOf(field)) });
  const renamed = visit(document, {
    Field: (field) => withName(field, names.get(field) ?? field.name.value),
    SelectionSet: {
      leave: (set) => ({ ...set, selections: withoutRepeatedLeaves(set.selections) }),
    },
  });
  return { document: renamed, nameOf: (field) => names.get(field) ?? field.name.value };
}

function safeName({ alias, name }: FieldNode, fields: ReadonlySet<string>): string {
  if (alias === undefined || alias.value === name.value) return name.value;
  const { value } = alias;
  const isUnsafe = fields.has(value) || /^__|__\d+$/.test(value) || value.startsWith(GUARD);
  return isUnsafe ? `${GUARD}${value}` : value;
}

// Under an abstract type, equal names may mean fields of different types.
function hasAbstractTypes(document: DocumentNode, schema: GraphQLSchema): boolean {
  let found = false;
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Field: () => {
        const type = types.getType();
        if (type && isAbstractType(getNamedType(type))) found = true;
      },
    }),
  );
  return found;
}

// Each root field of a mutation is executed, however often it is repeated.
function mutatesLeaves(document: DocumentNode, schema: GraphQLSchema): boolean {
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  if (operation?.operation !== OperationTypeNode.MUTATION) return false;
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {});
  return fields.some(({ type }) => isLeafType(getNamedType(type)));
}

/** Leaves with arguments get a name for each combination of these. */
function createLeafNames(fields: ReadonlySet<string>): (field: FieldNode) => string {
  const byText = new Map<string, string>();
  return ({ name, arguments: args = [] }) => {
    if (args.length === 0) return name.value;
    const text = `${name.value} ${args.map(print).sort().join(' ')}`;
    let known = byText.get(text);
    if (known === undefined) {
      let number = byText.size;
      while (fields.has(`${name.value}__${number}`)) number += 1;
      known = `${name.value}__${number}`;
      byText.set(text, known);
    }
    return known;
  };
}

function withName(field: FieldNode, name: string): FieldNode | undefined {
  if (name === (field.alias ?? field.name).value) return undefined;
  const { alias: _alias, ...rest } = field;
  return name === field.name.value ? rest : { ...rest, alias: { kind: Kind.NAME, value: name } };
}

function withoutRepeatedLeaves(selections: readonly SelectionNode[]): SelectionNode[] {
  const seen = new Set<string>();
  return selections.filter((node) => {
    if (node.kind !== Kind.FIELD || node.selectionSet !== undefined) return true;
    const { size } = seen;
    return size < seen.add(print(node)).size;
  });
}
