// Which subgraphs resolve each field of a graph, and by which keys they find an object.
import {
  type DocumentNode,
  type FieldDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
} from 'graphql';
import { argumentsOf } from '../schema/definitions.ts';
import { type JoinedSubgraph, joinedSubgraphs } from '../schema/supergraph.ts';

/** The object types of a supergraph, by name, without those that planDirectly leaves to Apollo. */
export type Ownership = ReadonlyMap<string, OwnedType>;

export type OwnedType = {
  /** The fields, without those that need more than planDirectly supports. */
  readonly fields: ReadonlyMap<string, OwnedField>;
  /** The keys by which a subgraph finds an object, each as the names of its fields. */
  readonly keys: ReadonlyMap<string, readonly (readonly string[])[]>;
};

/** The fields of the object that each subgraph requires to resolve it, by its name. */
type OwnedField = ReadonlyMap<string, readonly string[]>;

/** Reads the `@join__` directives of a supergraph (join specification 0.5). */
export function ownershipOf(supergraph: DocumentNode): Ownership {
  const graphs = joinedSubgraphs(supergraph);
  const owned = new Map<string, OwnedType>();
  for (const node of supergraph.definitions) {
    if (node.kind !== Kind.OBJECT_TYPE_DEFINITION) continue;
    const type = ownedType(node, graphs);
    if (type !== undefined) owned.set(node.name.value, type);
  }
  return owned;
}

function ownedType(
  { directives = [], fields = [] }: ObjectTypeDefinitionNode,
  graphs: ReadonlyMap<string, JoinedSubgraph>,
): OwnedType | undefined {
  const subgraphs: string[] = [];
  const keys = new Map<string, string[][]>();
  for (const join of argumentsOf(directives, 'join__type')) {
    const { graph, key, resolvable, isInterfaceObject } = join;
    const subgraph = graphs.get(String(graph))?.name;
    if (subgraph === undefined || isInterfaceObject === true) return undefined;
    subgraphs.push(subgraph);
    const fieldNames = typeof key === 'string' ? plainFields(key) : undefined;
    if (fieldNames === undefined || resolvable === false) continue;
    keys.set(subgraph, [...(keys.get(subgraph) ?? []), fieldNames]);
  }
  const owned = new Map<string, OwnedField>();
  for (const field of fields) {
    const owners = ownersOf(field, subgraphs, graphs);
    if (owners !== undefined) owned.set(field.name.value, owners);
  }
  return { fields: owned, keys };
}

/** Undefined if a subgraph needs more than its own data, plain fields of others included. */
function ownersOf(
  { directives = [] }: FieldDefinitionNode,
  subgraphs: readonly string[],
  graphs: ReadonlyMap<string, JoinedSubgraph>,
): OwnedField | undefined {
  const owners = new Map<string, readonly string[]>();
  const joins = argumentsOf(directives, 'join__field');
  if (joins.length === 0) for (const name of subgraphs) owners.set(name, []);
  for (const { graph, external, requires, ...others } of joins) {
    const subgraph = graphs.get(String(graph))?.name;
    if (subgraph === undefined || Object.keys(others).length > 0) return undefined;
    if (external === true) continue;
    const required = requires === undefined ? [] : plainFields(String(requires));
    if (required === undefined) return undefined;
    owners.set(subgraph, required);
  }
  return owners;
}

/** The names of a field set (`id name`); undefined if one has arguments or fields of its own. */
function plainFields(fieldSet: string): string[] | undefined {
  const [set] = parse(`{${fieldSet}}`, { noLocation: true }).definitions;
  if (set?.kind !== Kind.OPERATION_DEFINITION) return undefined;
  const found: string[] = [];
  for (const node of set.selectionSet.selections) {
    if (node.kind !== Kind.FIELD || node.alias !== undefined) return undefined;
    if (node.selectionSet !== undefined || (node.arguments ?? []).length > 0) return undefined;
    found.push(node.name.value);
  }
  return found;
}
