// Plans the operations that most documents have, without Apollo's planner.
//
// If every field has one subgraph and objects are found by plain keys, there is only one plan.
// Apollo's planner, which compares all plans, takes milliseconds to find it.
import type { FetchNode, PlanNode, QueryPlanSelectionNode } from '@apollo/query-planner';
import { fragmentsOf } from '@partner-loyalty/runtime/cache/document.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import {
  type ArgumentNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  Kind,
  OperationTypeNode,
  print,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { LIMITS } from '../document/measure.ts';
import type { OwnedType, Ownership } from './ownership.ts';

/**
 * Plans a validated operation whose fields have been renamed by renameFields. Returns undefined if
 * it has abstract types, a field under several conditions, several fields of a mutation over
 * several subgraphs, or fields for which a subgraph is to be chosen. Apollo's planner plans those.
 * The node is undefined if no field needs a subgraph. Throws OPERATION_TOO_COMPLEX if the plan gets
 * too large.
 */
export function planDirectly(
  document: DocumentNode,
  schema: GraphQLSchema,
  ownership: Ownership,
): DirectPlan | undefined {
  try {
    return planOperation(document, schema, ownership);
  } catch (error) {
    if (error === NOT_DIRECT) return undefined;
    throw error;
  }
}

/** With the characters of its JSON, about. */
type DirectPlan = { node: PlanNode | undefined; characters: number };

/** Thrown if only Apollo's planner can plan the operation. */
const NOT_DIRECT = new Error('the operation needs the whole planner');

function notDirect(): never {
  throw NOT_DIRECT;
}

type Planning = {
  schema: GraphQLSchema;
  ownership: Ownership;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** The definitions of variables, printed, by name. */
  definitions: ReadonlyMap<string, string>;
  /** The keys by which objects of a type go from one subgraph to another. */
  keys: Map<string, readonly string[] | undefined>;
  size: PlanSize;
};

/** What the JSON of a fetch has beside its text, and that of a name that it needs. */
const CHARACTERS_OF_FETCH = 200;
const CHARACTERS_OF_NAME = 40;

/** How large a plan is so far. */
class PlanSize {
  private fetches = 0;
  characters = 0;

  addFetch(): void {
    this.fetches += 1;
    this.characters += CHARACTERS_OF_FETCH;
    if (this.fetches > LIMITS.fetches) tooLarge();
  }

  /** A text, or the steps of a path. */
  add({ length }: { readonly length: number }, more = 0): void {
    this.characters += length + more;
    if (this.characters > LIMITS.fetched) tooLarge();
  }
}

export function tooLarge(): never {
  fail('OPERATION_TOO_COMPLEX', 'the operation needs too many or too large fetches from subgraphs');
}

/** What is selected of an object, by response name, with fragments and repetitions merged. */
type Selected = Map<string, SelectedField>;
type SelectedField = {
  node: FieldNode;
  type: GraphQLOutputType | undefined;
  /** `@skip` and `@include`, those of the fragments around it included. */
  conditions: readonly DirectiveNode[];
  below?: Below;
};
type Below = { type: GraphQLObjectType; selected: Selected };

/** A fetch to a subgraph: what it selects, and the fetches that need its result. */
type SubgraphFetch = {
  subgraph: string;
  text: string;
  variables: Set<string>;
  /** The conditions that all of its fields are under. */
  condition: DirectiveNode | undefined;
  dependents: DependentFetch[];
};
/** Fields of the object at a path, from another subgraph. */
type DependentFetch = {
  path: readonly string[];
  typeName: string;
  /** What identifies the object there, and what its fields require. */
  needed: ReadonlySet<string>;
  fetch: SubgraphFetch;
};

function planOperation(
  document: DocumentNode,
  schema: GraphQLSchema,
  ownership: Ownership,
): DirectPlan {
  const fragments = fragmentsOf(document);
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  const root = operation && schema.getRootType(operation.operation);
  if (operation === undefined || !root) return notDirect();
  const definitions = new Map(
    (operation.variableDefinitions ?? []).map((each) => [
      each.variable.name.value,
      print({ ...each, directives: [] }),
    ]),
  );
  const planning: Planning = {
    ...{ schema, ownership, fragments, definitions },
    ...{ keys: new Map(), size: new PlanSize() },
  };

  const selected: Selected = new Map();
  collect(planning, root, operation.selectionSet, [], selected);
  // A root type's name needs no subgraph.
  for (const [name, { node }] of selected) if (isTypeName(node)) selected.delete(name);
  const fetches = Array.from(bySubgraph(planning, root, selected), ([subgraph, fields]) =>
    fetchOf(planning, subgraph, fields, []),
  );
  if (operation.operation === OperationTypeNode.MUTATION && selected.size > 1)
    if (fetches.length > 1 || fetches.some(({ dependents }) => dependents.length > 0))
      return notDirect();
  const nodes = fetches.map((fetch) => {
    const node = fetchNode(planning, fetch, operation.operation, [], fetch.text);
    return sequenceOf(planning, node, fetch);
  });
  return { node: inParallel(nodes), characters: planning.size.characters };
}

const REPRESENTATIONS = 'representations';
const TYPE_NAME = '__typename';

function isTypeName({ name }: FieldNode): boolean {
  return name.value === TYPE_NAME;
}

/** Adds what a selection set selects of an object to `selected`. */
function collect(
  planning: Planning,
  type: GraphQLObjectType,
  { selections }: SelectionSetNode,
  above: readonly DirectiveNode[],
  selected: Selected,
): void {
  for (const node of selections) {
    const conditions = together(above, node.directives);
    if (node.kind === Kind.FIELD) {
      collectField(planning, type, node, conditions, selected);
      continue;
    }
    const fragment =
      node.kind === Kind.INLINE_FRAGMENT ? node : planning.fragments.get(node.name.value);
    const condition = fragment?.typeCondition?.name.value ?? type.name;
    if (fragment === undefined || condition !== type.name) throw NOT_DIRECT;
    collect(planning, type, fragment.selectionSet, conditions, selected);
  }
}

/** The conditions of a selection within a fragment. A field has each directive only once. */
function together(
  above: readonly DirectiveNode[],
  own: readonly DirectiveNode[] = [],
): readonly DirectiveNode[] {
  if (own.length === 0) return above;
  for (const { name } of own) {
    const isCondition = name.value === 'skip' || name.value === 'include';
    if (!isCondition || above.some((each) => each.name.value === name.value)) return notDirect();
  }
  return [...above, ...own];
}

function collectField(
  planning: Planning,
  type: GraphQLObjectType,
  node: FieldNode,
  conditions: readonly DirectiveNode[],
  selected: Selected,
): void {
  const responseName = (node.alias ?? node.name).value;
  let known = selected.get(responseName);
  if (known === undefined) {
    known = { node, type: type.getFields()[node.name.value]?.type, conditions };
    const below = known.type && objectTypeOf(known.type);
    if (node.selectionSet !== undefined) {
      if (below === undefined) throw NOT_DIRECT;
      known.below = { type: below, selected: new Map() };
    }
    selected.set(responseName, known);
  } else if (conditionsText(conditions) !== conditionsText(known.conditions)) throw NOT_DIRECT;
  if (node.selectionSet === undefined || known.below === undefined) return;
  const { below } = known;
  collect(planning, below.type, node.selectionSet, [], below.selected);
}

function conditionsText(conditions: readonly DirectiveNode[]): string {
  return conditions.map((each) => ` ${print(each)}`).join('');
}

function objectTypeOf(type: GraphQLOutputType): GraphQLObjectType | undefined {
  const named = getNamedType(type);
  return isObjectType(named) ? named : undefined;
}

/** The selected fields of a root type, by the subgraph that each has. */
function bySubgraph(
  { ownership }: Planning,
  type: GraphQLObjectType,
  selected: Selected,
): Map<string, Selected> {
  const found = new Map<string, Selected>();
  for (const [responseName, field] of selected) {
    const [subgraph, ...others] = ownersOf(ownership.get(type.name), field.node.name.value);
    if (subgraph === undefined || others.length > 0) return notDirect();
    addTo(found, subgraph, responseName, field);
  }
  return found;
}

function addTo(
  found: Map<string, Selected>,
  subgraph: string,
  responseName: string,
  field: SelectedField,
): void {
  const fields = found.get(subgraph) ?? new Map();
  fields.set(responseName, field);
  found.set(subgraph, fields);
}

/** The subgraphs that resolve a field. Gives up if one of them needs more than its own data. */
function ownersOf(type: OwnedType | undefined, fieldName: string): string[] {
  const owners = type?.fields.get(fieldName);
  return owners === undefined ? notDirect() : [...owners.keys()];
}

/** A fetch for fields of the object at `path`, all of which the subgraph resolves. */
function fetchOf(
  planning: Planning,
  subgraph: string,
  selected: Selected,
  path: readonly string[],
): SubgraphFetch {
  planning.size.addFetch();
  planning.size.add(path);
  const condition = commonCondition(selected);
  const fetch: SubgraphFetch = {
    subgraph,
    text: '',
    variables: new Set(),
    condition,
    dependents: [],
  };
  const texts = Array.from(selected.values(), (field) =>
    fieldText(planning, fetch, condition ? { ...field, conditions: [] } : field, path),
  );
  fetch.text = `{${texts.join(' ')}}`;
  return fetch;
}

function commonCondition(selected: Selected): DirectiveNode | undefined {
  const [first, ...others] = [...selected.values()].map(({ conditions }) => conditions);
  const [condition, ...more] = first ?? [];
  if (condition === undefined || more.length > 0 || variableOf(condition) === undefined)
    return undefined;
  const text = conditionsText([condition]);
  return others.every((each) => conditionsText(each) === text) ? condition : undefined;
}

/** What a fetch selects of an object; the fields of other subgraphs become dependent fetches. */
function selectionText(
  planning: Planning,
  fetch: SubgraphFetch,
  { type, selected }: Below,
  path: readonly string[],
): string {
  const texts = new Set<string>();
  const elsewhere = new Map<string, Selected>();
  for (const [responseName, field] of selected) {
    const owner = isTypeName(field.node) ? fetch.subgraph : ownerOf(planning, fetch, type, field);
    if (owner === fetch.subgraph) texts.add(fieldText(planning, fetch, field, path));
    else addTo(elsewhere, owner, responseName, field);
  }
  for (const [subgraph, fields] of elsewhere) {
    const needed = neededBy(planning, type.name, fetch.subgraph, subgraph, fields);
    for (const name of [TYPE_NAME, ...needed]) {
      if (!isPlain(selected.get(name), name)) return notDirect();
      texts.add(name);
    }
    fetch.dependents.push({
      path,
      typeName: type.name,
      needed,
      fetch: fetchOf(planning, subgraph, fields, path),
    });
  }
  return `{${[...texts].join(' ')}}`;
}

/** The calling subgraph, or the only other one that resolves the field. */
function ownerOf(
  { ownership }: Planning,
  { subgraph }: SubgraphFetch,
  type: GraphQLObjectType,
  { node }: SelectedField,
): string {
  const owned = ownership.get(type.name);
  if (isPlainIn(owned, subgraph, node.name.value)) return subgraph;
  const [owner, ...others] = ownersOf(owned, node.name.value);
  return owner === undefined || owner === subgraph || others.length > 0 ? notDirect() : owner;
}

function isPlainIn(type: OwnedType | undefined, subgraph: string, fieldName: string): boolean {
  return type?.fields.get(fieldName)?.get(subgraph)?.length === 0;
}

/** The names of the fields of `from` that another subgraph needs to resolve `fields`. */
function neededBy(
  { ownership, keys, size }: Planning,
  typeName: string,
  from: string,
  subgraph: string,
  fields: Selected,
): ReadonlySet<string> {
  const type = ownership.get(typeName);
  const isKnown = (name: string) => isPlainIn(type, from, name);
  const way = [typeName, from, subgraph].join();
  const known = keys.has(way)
    ? keys.get(way)
    : type?.keys.get(subgraph)?.find((names) => names.every(isKnown));
  keys.set(way, known);
  const key = known ?? notDirect();
  const needed = new Set<string>();
  const need = (name: string) => {
    size.add(name, CHARACTERS_OF_NAME);
    needed.add(name);
  };
  key.forEach(need);
  for (const { node } of fields.values())
    for (const name of type?.fields.get(node.name.value)?.get(subgraph) ?? [])
      isKnown(name) ? need(name) : notDirect();
  return needed;
}

/** Whether nothing else is selected under the name of a field. */
function isPlain(selected: SelectedField | undefined, name: string): boolean {
  if (selected === undefined) return true;
  const { node, below } = selected;
  return node.name.value === name && below === undefined && (node.arguments ?? []).length === 0;
}

function fieldText(
  planning: Planning,
  fetch: SubgraphFetch,
  { node, type, conditions, below }: SelectedField,
  path: readonly string[],
): string {
  const { alias, name, arguments: args = [] } = node;
  const responseName = (alias ?? name).value;
  const called = responseName === name.value ? responseName : `${responseName}:${name.value}`;
  for (const each of [...args, ...conditions]) addVariables(each, fetch);
  const head = args.length === 0 ? called : `${called}(${args.map(print).join(',')})`;
  const text = head + conditionsText(conditions);
  planning.size.add(text);
  if (below === undefined || type === undefined) return text;
  return text + selectionText(planning, fetch, below, [...path, responseName, ...listSteps(type)]);
}

function addVariables(node: ArgumentNode | DirectiveNode, { variables }: SubgraphFetch): void {
  visit(node, { Variable: ({ name }) => void variables.add(name.value) });
}

/** The steps of a plan's path into the lists of a type. */
function listSteps(type: GraphQLOutputType): string[] {
  const steps: string[] = [];
  for (let at = getNullableType(type); isListType(at); at = getNullableType(at.ofType))
    steps.push('@');
  return steps;
}

function dependentNode(
  planning: Planning,
  { path, typeName, needed, fetch }: DependentFetch,
): PlanNode {
  const fields = `{_entities(${REPRESENTATIONS}:$${REPRESENTATIONS}){...on ${typeName}${fetch.text}}}`;
  const node = fetchNode(planning, fetch, OperationTypeNode.QUERY, [ENTITIES], fields);
  const selections: QueryPlanSelectionNode[] = [TYPE_NAME, ...needed].map((name) => ({
    kind: 'Field',
    name,
  }));
  const requires: QueryPlanSelectionNode[] = [
    { kind: 'InlineFragment', typeCondition: typeName, selections },
  ];
  return { kind: 'Flatten', path: [...path], node: { ...node, requires } };
}

const ENTITIES = `$${REPRESENTATIONS}:[_Any!]!`;

function fetchNode(
  { definitions, size }: Planning,
  { subgraph, variables }: SubgraphFetch,
  operationKind: OperationTypeNode,
  declared: readonly string[],
  text: string,
): FetchNode {
  const all = [...declared];
  for (const [name, definition] of definitions) if (variables.has(name)) all.push(definition);
  const head = all.length === 0 ? '' : `(${all.join(',')})`;
  size.add(head);
  return {
    kind: 'Fetch',
    serviceName: subgraph,
    variableUsages: [...variables],
    operation: `${operationKind}${head}${text}`,
    operationName: undefined,
    operationKind,
  };
}

/** A fetch and then those that need its result. */
function sequenceOf(
  planning: Planning,
  node: PlanNode,
  { dependents, condition }: SubgraphFetch,
): PlanNode {
  const after = inParallel(
    dependents.map((each) => sequenceOf(planning, dependentNode(planning, each), each.fetch)),
  );
  const nodes = after === undefined ? node : { kind: 'Sequence' as const, nodes: [node, after] };
  return condition === undefined ? nodes : underCondition(nodes, condition);
}

/** Avoids a fetch that would select nothing. */
function underCondition(node: PlanNode, directive: DirectiveNode): PlanNode {
  const condition = variableOf(directive) ?? notDirect();
  return directive.name.value === 'skip'
    ? { kind: 'Condition', condition, elseClause: node }
    : { kind: 'Condition', condition, ifClause: node };
}

/** The name of the variable that decides a condition; undefined if it is a literal. */
function variableOf({ arguments: [argument] = [] }: DirectiveNode): string | undefined {
  return argument?.value.kind === Kind.VARIABLE ? argument.value.name.value : undefined;
}

function inParallel(nodes: PlanNode[]): PlanNode | undefined {
  return nodes.length > 1 ? { kind: 'Parallel', nodes } : nodes[0];
}
