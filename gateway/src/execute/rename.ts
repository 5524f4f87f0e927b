// Gives the fields of an operation names that the planner and the subgraphs can rely on.
import {
  type DirectiveNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type FieldNode,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isLeafType,
  Kind,
  OperationTypeNode,
  parse,
  print,
  type SelectionNode,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { argumentsOf } from '../schema/definitions.ts';

/** An operation as the planner and the subgraphs see it. */
export type RenamedOperation = {
  document: DocumentNode;
  /** The response name in `document` of a field in the caller's document. */
  nameOf(field: FieldNode): string;
  /** Whether a field is of an interface or a union. */
  isAbstract: boolean;
};

/** The prefix of the names that fields get instead of aliases. */
const GUARD = 'as__';

/** The fields of the graph, hidden ones included: the planner may select any of them too. */
export type GraphFields = {
  names: ReadonlySet<string>;
  /** Fields with arguments that a subgraph requires, possibly with other ones than the caller. */
  requiredWithArguments: ReadonlySet<string>;
};

export function fieldsOf({ definitions }: DocumentNode): GraphFields {
  const names = new Set<string>();
  const required = new Set<string>();
  const withArguments = new Set<string>();
  for (const node of definitions) {
    if (node.kind !== Kind.OBJECT_TYPE_DEFINITION && node.kind !== Kind.INTERFACE_TYPE_DEFINITION)
      continue;
    for (const field of node.fields ?? []) {
      names.add(field.name.value);
      if (field.arguments?.length) withArguments.add(field.name.value);
      for (const each of requirementsOf(field)) required.add(each);
    }
  }
  const requiredWithArguments = new Set([...required].filter((name) => withArguments.has(name)));
  return { names, requiredWithArguments };
}

/** The names of the fields that a field requires (join specification 0.5). */
function requirementsOf({ directives = [] }: FieldDefinitionNode): string[] {
  const found: string[] = [];
  for (const { requires } of argumentsOf(directives, 'join__field'))
    if (requires !== undefined)
      visit(parse(`{${requires}}`), { Field: ({ name }) => void found.push(name.value) });
  return found;
}

/**
 * Renames the fields of a validated document:
 * - A leaf loses its alias, and a repeated leaf is selected once. So the cost of planning and
 *   fetching an operation depends on the fields of the graph, not on how often they are repeated.
 * - Any other alias is replaced by a numbered one: a caller may alias any field as `memberId`, but
 *   the planner reads the key there. It also lets operations that differ only in aliases share a
 *   plan, and keeps callers from multiplying the documents that subgraphs get.
 * - Conditions that are literals are decided, and an object that may have no field left has its
 *   type name. Apollo's planner ignores some of the former, and cannot plan the latter.
 * - A field that has arguments and that a subgraph requires gets an alias: the planner selects it
 *   under its name, possibly with other arguments than the caller, who may omit a default.
 */
export function renameFields(
  document: DocumentNode,
  schema: GraphQLSchema,
  fields: GraphFields,
): RenamedOperation {
  const isAbstract = hasAbstractTypes(document, schema);
  const isPlain = !isAbstract && !mutatesLeaves(document, schema);
  const freeName = createFreeNames(fields);
  const leafNames = isPlain ? createLeafNames(fields, freeName) : undefined;
  const otherNames = createNames(fields, freeName);
  const nameOf = (field: FieldNode): string =>
    field.selectionSet === undefined && leafNames !== undefined
      ? leafNames(field)
      : otherNames(field);
  const names = new Map<FieldNode, string>();
  // A visitor of graphql-js takes several times as long.
  const inSet = (set: SelectionSetNode, isSure: boolean): SelectionSetNode => {
    const selections = set.selections
      .filter(isSelected)
      .map(inSelection)
      .map(withoutLiteralConditions);
    if (selections.length === 0 || !isSure) selections.push(TYPE_NAME);
    return { ...set, selections: withoutRepeatedLeaves(selections) };
  };
  const isSure = createIsSure(document);
  const inSelection = (node: SelectionNode): SelectionNode => {
    if (node.kind === Kind.FRAGMENT_SPREAD) return node;
    if (node.kind === Kind.INLINE_FRAGMENT)
      return { ...node, selectionSet: inSet(node.selectionSet, true) };
    const name = nameOf(node);
    names.set(node, name);
    const field = withName(node, name);
    return field.selectionSet === undefined
      ? field
      : { ...field, selectionSet: inSet(field.selectionSet, isSure(field.selectionSet)) };
  };
  const definitions = document.definitions.map((node) =>
    'selectionSet' in node ? { ...node, selectionSet: inSet(node.selectionSet, true) } : node,
  );
  const renamed: DocumentNode = { ...document, definitions };
  return {
    document: isAbstract ? withTypeNames(renamed, schema) : renamed,
    nameOf: (field) => names.get(field) ?? field.name.value,
    isAbstract,
  };
}

/** Returns a function that says whether a set has a field, or a fragment's, without a condition. */
function createIsSure({ definitions }: DocumentNode): (set: SelectionSetNode) => boolean {
  const known = new Map<SelectionSetNode | undefined, boolean>();
  const fragments = new Map<string, SelectionSetNode>();
  for (const node of definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node.selectionSet);

  const isSureNode = (node: SelectionNode): boolean => {
    const { directives = [] } = withoutLiteralConditions(node);
    if (directives.length > 0 || !isSelected(node)) return false;
    if (node.kind === Kind.FIELD) return true;
    const set =
      node.kind === Kind.INLINE_FRAGMENT ? node.selectionSet : fragments.get(node.name.value);
    const isSure = known.get(set) ?? set?.selections.some(isSureNode) === true;
    known.set(set, isSure);
    return isSure;
  };
  return ({ selections }) => selections.some(isSureNode);
}

function isSelected(node: SelectionNode): boolean {
  const { directives = [] } = node;
  if (node.kind === Kind.INLINE_FRAGMENT && !node.selectionSet.selections.some(isSelected))
    return false;
  return directives.every((each) => literalOf(each) !== (each.name.value === 'skip'));
}

function withoutLiteralConditions(node: SelectionNode): SelectionNode {
  const { directives = [] } = node;
  const others = directives.filter((each) => literalOf(each) === undefined);
  return others.length === directives.length ? node : { ...node, directives: others };
}

/** What a condition of an operation has in place of a variable. */
function literalOf({ arguments: [argument] = [] }: DirectiveNode): boolean | undefined {
  return argument?.value.kind === Kind.BOOLEAN ? argument.value.value : undefined;
}

/** Returns a function whose names all differ, from those of fields too. */
function createFreeNames({ names }: GraphFields): (prefix: string) => string {
  let number = 0;
  return (prefix) => {
    while (names.has(`${prefix}${number}`)) number += 1;
    return `${prefix}${number++}`;
  };
}

/** The same alias gets the same name everywhere, and no two aliases share one. */
function createNames(
  { requiredWithArguments }: GraphFields,
  freeName: (prefix: string) => string,
): (field: FieldNode) => string {
  const byAlias = new Map<string, string>();
  return ({ alias, name }) => {
    if (alias === undefined || alias.value === name.value)
      return requiredWithArguments.has(name.value) ? `${GUARD}${name.value}` : name.value;
    const known = byAlias.get(alias.value) ?? freeName(GUARD);
    byAlias.set(alias.value, known);
    return known;
  };
}

// Under an abstract type, equal names may mean fields of different types.
function hasAbstractTypes(document: DocumentNode, schema: GraphQLSchema): boolean {
  if (!Object.values(schema.getTypeMap()).some(isAbstractType)) return false;
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

/** Selects the type name wherever the type is abstract: the shape of the response needs it. */
function withTypeNames(document: DocumentNode, schema: GraphQLSchema): DocumentNode {
  const types = new TypeInfo(schema);
  return visit(
    document,
    visitWithTypeInfo(types, {
      SelectionSet: (set) => {
        const type = types.getParentType();
        // Without object types, the planner does not know the type either.
        if (!type || !isAbstractType(type) || schema.getPossibleTypes(type).length === 0)
          return undefined;
        return { ...set, selections: withoutRepeatedLeaves([TYPE_NAME, ...set.selections]) };
      },
    }),
  );
}

const TYPE_NAME: FieldNode = {
  kind: Kind.FIELD,
  name: { kind: Kind.NAME, value: '__typename' },
};

// Each root field of a mutation is executed, however often it is repeated.
function mutatesLeaves(document: DocumentNode, schema: GraphQLSchema): boolean {
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  if (operation?.operation !== OperationTypeNode.MUTATION) return false;
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {});
  return fields.some(({ type }) => isLeafType(getNamedType(type)));
}

/** Leaves with arguments get a name for each combination of these. */
function createLeafNames(
  { requiredWithArguments }: GraphFields,
  freeName: (prefix: string) => string,
): (field: FieldNode) => string {
  const byText = new Map<string, string>();
  return ({ name, arguments: args = [] }) => {
    if (args.length === 0 && !requiredWithArguments.has(name.value)) return name.value;
    const text = `${name.value} ${args.map(print).sort().join(' ')}`;
    const known = byText.get(text) ?? freeName(`${name.value}__`);
    byText.set(text, known);
    return known;
  };
}

function withName(field: FieldNode, name: string): FieldNode {
  if (name === (field.alias ?? field.name).value) return field;
  const { alias: _alias, ...rest } = field;
  return name === field.name.value ? rest : { ...rest, alias: { kind: Kind.NAME, value: name } };
}

function withoutRepeatedLeaves(selections: readonly SelectionNode[]): SelectionNode[] {
  const seen = new Set<string>();
  return selections.filter((node) => {
    if (node.kind !== Kind.FIELD || node.selectionSet !== undefined) return true;
    const { size } = seen;
    const { alias, name, arguments: args = [], directives = [] } = node;
    const isPlain = alias === undefined && args.length === 0 && directives.length === 0;
    return size < seen.add(isPlain ? name.value : print(node)).size;
  });
}
