// Reads from a composed supergraph which subgraphs declare, resolve and read each part of it.
import {
  argumentsOf,
  type DefinedElement,
  namedType,
} from '@partner-loyalty/gateway/schema/definitions.ts';
import { joinedSubgraphs } from '@partner-loyalty/gateway/schema/supergraph.ts';
import { isFederationType } from '@partner-loyalty/gateway/schema/surfaces.ts';
import {
  type ConstDirectiveNode,
  type DefinitionNode,
  Kind,
  parse,
  print,
  type SelectionSetNode,
  type TypeDefinitionNode,
} from 'graphql';

/** A part of the composed schema that callers could notice, and the subgraphs that declare it. */
export type Part = { coordinate: string; aspect: string; value: string; owners: Names };

export type Names = ReadonlySet<string>;

type JoinedType = {
  /** The subgraphs that declare it. */
  declaring: Set<string>;
  /** The subgraphs for which it is an `@interfaceObject`. */
  abstractIn: Set<string>;
  interfaces: string[];
  isObject: boolean;
  /** The keys of each subgraph, with those that it cannot be asked by. */
  keys: { graph: string; key: string; isResolvable: boolean }[];
  fields: Map<string, JoinedField>;
};

export type JoinedField = {
  /** The name of its type. */
  typeName: string;
  resolvers: Set<string>;
  /** By subgraph; both are field sets. */
  requires: { graph: string; set: string }[];
  provides: { graph: string; set: string }[];
  /** The subgraph that is overridden, by the one that overrides it. */
  overriding: Map<string, string>;
};

export type JoinedGraph = {
  types: ReadonlyMap<string, JoinedType>;
  /** The names of the types that implement an interface. */
  implementing: ReadonlyMap<string, readonly string[]>;
  /** By coordinate and aspect. */
  parts: ReadonlyMap<string, Part>;
};

/** Reads the `@join__` directives of a supergraph (join specification 0.5). */
export function joinedGraph(supergraph: string): JoinedGraph {
  const document = parse(supergraph, { noLocation: true });
  const graphs = joinedSubgraphs(document);
  const nameOf = (graph: unknown) => graphs.get(String(graph))?.name ?? '';
  const nodes = document.definitions.filter(isOwnType);
  const types = new Map(nodes.map((node) => [node.name.value, joinedType(node, nameOf)]));
  for (const { fields, interfaces } of types.values())
    for (const [name, { resolvers }] of fields)
      for (const graph of interfaces.flatMap((each) => abstractResolvers(types.get(each), name)))
        resolvers.add(graph);
  const implementing = new Map<string, string[]>();
  for (const [name, { interfaces }] of types)
    for (const each of interfaces)
      implementing.set(each, [...(implementing.get(each) ?? []), name]);
  const all = new Set(Array.from(graphs.values(), ({ name }) => name));
  return { types, implementing, parts: partsOf(document.definitions, types, nameOf, all) };
}

/**
 * The coordinates that a field set of a type selects, with their arguments; of an interface, also
 * those of the types that implement it. `path` leads there from the type.
 */
export function selectedIn(
  set: string,
  typeName: string,
  { types, implementing }: JoinedGraph,
): { coordinate: string; selected: string; path: string }[] {
  const found: { coordinate: string; selected: string; path: string }[] = [];
  const walk = ({ selections }: SelectionSetNode, parent: string, before: string): void => {
    for (const node of selections) {
      if (node.kind === Kind.INLINE_FRAGMENT)
        walk(node.selectionSet, node.typeCondition?.name.value ?? parent, before);
      if (node.kind !== Kind.FIELD || node.name.value.startsWith('__')) continue;
      const name = node.name.value;
      const { selectionSet: _, ...alone } = node;
      const own = print(alone);
      for (const type of [parent, ...(implementing.get(parent) ?? [])]) {
        const selected = `${type}.${own}`;
        found.push({ coordinate: `${type}.${name}`, selected, path: before + selected });
      }
      const next = types.get(parent)?.fields.get(name)?.typeName;
      if (node.selectionSet !== undefined && next !== undefined)
        walk(node.selectionSet, next, `${before}${parent}.${own} `);
    }
  };
  const [operation] = parse(`{${set}}`, { noLocation: true }).definitions;
  if (operation?.kind === Kind.OPERATION_DEFINITION) walk(operation.selectionSet, typeName, '');
  return found;
}

type NameOf = (graph: unknown) => string;

const isOwnType = (node: DefinitionNode): node is TypeDefinitionNode =>
  node.kind.endsWith('TypeDefinition') &&
  'name' in node &&
  !isFederationType(node.name?.value ?? '');

function joinedType(node: TypeDefinitionNode, nameOf: NameOf): JoinedType {
  const joins = argumentsOf(node.directives ?? [], 'join__type');
  const declaring = new Set(joins.map(({ graph }) => nameOf(graph)));
  const abstract = joins.filter(({ isInterfaceObject }) => isInterfaceObject === true);
  const abstractIn = new Set(abstract.map(({ graph }) => nameOf(graph)));
  const isObject = node.kind === Kind.OBJECT_TYPE_DEFINITION;
  const composite = isObject || node.kind === Kind.INTERFACE_TYPE_DEFINITION;
  const fields = composite ? (node.fields ?? []) : [];
  return {
    declaring,
    abstractIn,
    isObject,
    interfaces: composite ? (node.interfaces ?? []).map(({ name }) => name.value) : [],
    keys: joins.flatMap(({ graph, key, resolvable }) =>
      typeof key === 'string'
        ? { graph: nameOf(graph), key: ordered(key), isResolvable: resolvable !== false }
        : [],
    ),
    fields: new Map(
      fields.map(({ name, type, directives = [] }) => {
        const field = joinedField(directives, isObject ? declaring : abstractIn, nameOf);
        return [name.value, { typeName: namedType(type), ...field }];
      }),
    ),
  };
}

/** A key whose fields have no fields says the same in any order. */
function ordered(key: string): string {
  return key.includes('{') ? key : (key.match(/\w+/g) ?? []).sort().join(' ');
}

/** `resolving` are the subgraphs that resolve the fields without a directive. */
function joinedField(directives: readonly ConstDirectiveNode[], resolving: Names, nameOf: NameOf) {
  const joins = argumentsOf(directives, 'join__field');
  const subgraphsOf = (found: typeof joins) => found.map(({ graph }) => nameOf(graph));
  const setsOf = (name: 'requires' | 'provides') =>
    joins.flatMap(({ graph, [name]: set }) =>
      typeof set === 'string' ? { graph: nameOf(graph), set } : [],
    );
  const resolved = joins.filter(
    ({ external, usedOverridden }) => external !== true && usedOverridden !== true,
  );
  const resolvers = joins.length === 0 ? [...resolving] : subgraphsOf(resolved);
  return {
    resolvers: new Set(resolvers.filter((name) => resolving.has(name))),
    requires: setsOf('requires'),
    provides: setsOf('provides'),
    overriding: new Map(
      joins.flatMap(({ graph, override }) =>
        typeof override === 'string' ? [[nameOf(graph), override]] : [],
      ),
    ),
  };
}

/** The subgraphs that resolve a field of all types behind an interface, without knowing them. */
function abstractResolvers(type: JoinedType | undefined, field: string): string[] {
  const { abstractIn, fields } = type ?? {};
  return [...(fields?.get(field)?.resolvers ?? [])].filter((graph) => abstractIn?.has(graph));
}

function partsOf(
  definitions: readonly DefinitionNode[],
  types: JoinedGraph['types'],
  nameOf: NameOf,
  all: Names,
): Map<string, Part> {
  const parts = new Map<string, Part>();
  const add = (coordinate: string, aspect: string, value: string, owners: Names) =>
    parts.set(`${coordinate} ${aspect}`, { coordinate, aspect, value, owners });
  const addNode = (coordinate: string, node: DescribedNode, owners: Names) => {
    add(coordinate, '', node.kind, owners);
    add(coordinate, 'description', node.description?.value ?? '', owners);
    if ('type' in node) add(coordinate, 'type', print(node.type), owners);
    if ('defaultValue' in node)
      add(coordinate, 'default', node.defaultValue ? print(node.defaultValue) : '', owners);
    for (const [aspect, value] of directivesOf(node)) add(coordinate, aspect, value, owners);
  };
  for (const node of definitions) {
    if (node.kind === Kind.DIRECTIVE_DEFINITION && node.locations.some(isExecutable))
      add(`@${node.name.value}`, '', print(node), all);
    if (node.kind === Kind.SCHEMA_DEFINITION)
      add('schema', 'description', node.description?.value ?? '', all);
    if (!isOwnType(node)) continue;
    const name = node.name.value;
    const type = types.get(name);
    const declaring = type?.declaring ?? all;
    addNode(name, node, declaring);
    for (const each of type?.interfaces ?? [])
      add(name, `implements ${each}`, 'yes', union(declaring, types.get(each)?.declaring ?? all));
    if (node.kind === Kind.UNION_TYPE_DEFINITION)
      for (const each of node.types ?? []) add(name, `member ${each.name.value}`, 'yes', declaring);
    if (node.kind === Kind.ENUM_TYPE_DEFINITION)
      for (const value of node.values ?? [])
        addNode(`${name}.${value.name.value}`, value, declaring);
    for (const field of ('fields' in node && node.fields) || []) {
      const coordinate = `${name}.${field.name.value}`;
      const owners = ownersOf(field, type, nameOf) ?? declaring;
      addNode(coordinate, field, owners);
      for (const argument of ('arguments' in field && field.arguments) || [])
        addNode(`${coordinate}(${argument.name.value}:)`, argument, owners);
    }
  }
  return parts;
}

/**
 * The subgraphs that own a field of an object or an interface object. Undefined if all subgraphs
 * that declare the type share its fields, as those of inputs and interfaces.
 */
function ownersOf(
  { name, directives = [] }: DefinedElement['node'],
  type: JoinedType | undefined,
  nameOf: NameOf,
): Names | undefined {
  const joined = argumentsOf(directives, 'join__field');
  if (joined.length === 0 || type === undefined) return undefined;
  const own = joined.flatMap(({ graph, external }) => (external ? [] : nameOf(graph) || []));
  const owners = new Set([...own, ...(type.fields.get(name.value)?.resolvers ?? [])]);
  const isOwn = type.isObject || (own.length > 0 && own.every((each) => type.abstractIn.has(each)));
  return isOwn ? owners : undefined;
}

type DescribedNode = TypeDefinitionNode | DefinedElement['node'];

/** An aspect for each tag, and for the name of each other directive. */
function directivesOf({ directives = [] }: DescribedNode): [aspect: string, value: string][] {
  return directives
    .filter(({ name }) => !name.value.startsWith('join__'))
    .map((directive) =>
      directive.name.value === 'tag'
        ? [print(directive), 'yes']
        : [`@${directive.name.value}`, print(directive)],
    );
}

const isExecutable = ({ value }: { value: string }) =>
  /^(QUERY|MUTATION|SUBSCRIPTION|FIELD|FRAGMENT_\w+|INLINE_FRAGMENT|VARIABLE_DEFINITION)$/.test(
    value,
  );

function union(one: Names, other: Names): Set<string> {
  return new Set([...one, ...other]);
}
