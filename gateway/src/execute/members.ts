// Finds the members that a response shows or an operation has changed, whatever the caller selects.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { isLongerThan } from '@partner-loyalty/runtime/input.ts';
import {
  type DocumentNode,
  type FieldDefinitionNode,
  type FieldNode,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  Kind,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { LIMITS } from '../document/measure.ts';
import { namedType } from '../schema/definitions.ts';
import type { Collect } from './collect.ts';

export type MemberAccess = {
  /** The root field. */
  operation: string;
  memberId: string;
  /** The fields of the member that the response shows, by their names in the schema. */
  fields: readonly string[];
};

/** Adds the member of an object in the data to `accesses`, if there is one. */
type RecordAccess = (
  data: Readonly<Record<string, unknown>>,
  isShown: boolean,
  accesses: Accesses,
) => void;

const MEMBER_ID = 'memberId';
/** In characters: what is longer is nobody's ID. */
const MAX_MEMBER_ID = 128;
/** Of a member, by one root field. */
const [MAX_LISTS, MAX_FIELDS] = [16, 64];
const NO_FIELDS: readonly string[] = [];
/** Each is a line of the audit log. Only fields of teams show more: an event shows two. */
const MAX_ACCESSES = { free: 100, perCost: 20 };

/** The members that a response shows or its operation has changed, each once by a root field. */
export class Accesses {
  /** By root field and member. */
  private readonly byOperation = new Map<string, Map<string, ShownFields>>();
  private readonly limit: number;
  private count = 0;
  private isRefused = false;

  /** `cost` is that of the operation. */
  constructor(cost: number) {
    this.limit = MAX_ACCESSES.free + MAX_ACCESSES.perCost * cost;
  }

  /** Throws OPERATION_TOO_COMPLEX if there are too many. */
  add(operation: string, memberId: string, fields: readonly string[]): void {
    const members = this.byOperation.get(operation) ?? new Map<string, ShownFields>();
    this.byOperation.set(operation, members);
    const shown = members.get(memberId) ?? { lists: new Set(), names: new Set() };
    if (!this.isRefused) show(shown, fields);
    if (members.has(memberId) || (this.isRefused && members.size >= this.limit)) return;
    this.count += 1;
    if (this.count > this.limit && !this.isRefused)
      fail('OPERATION_TOO_COMPLEX', `the response shows more than ${this.limit} members`);
    members.set(memberId, shown);
  }

  /** Begins again: nothing is shown. What is too much of a root field is left out. */
  refuse(): void {
    this.byOperation.clear();
    this.isRefused = true;
  }

  get isEmpty(): boolean {
    return this.byOperation.size === 0;
  }

  *[Symbol.iterator](): Iterator<MemberAccess> {
    for (const [operation, members] of this.byOperation)
      for (const [memberId, { names }] of members)
        yield { operation, memberId, fields: [...names] };
  }
}

/** The lists of fields of a member, which objects of one type share, and the names in them. */
type ShownFields = { lists: Set<readonly string[]>; names: Set<string> };

function show({ lists, names }: ShownFields, fields: readonly string[]): void {
  if (lists.size >= MAX_LISTS || lists.has(fields)) return;
  lists.add(fields);
  for (const name of fields) if (names.size < MAX_FIELDS) names.add(name);
}

/**
 * The document with the member ID selected wherever an object has one, as `memberId`. In a document
 * of renameFields, that name is never another field's. `hidden` are the types whose member ID
 * callers do not see. Throws OPERATION_TOO_COMPLEX if it is selected too often.
 */
export function withMemberIds(
  document: DocumentNode,
  schema: GraphQLSchema,
  hidden: ReadonlySet<string>,
): DocumentNode {
  const types = new TypeInfo(schema);
  const isMutation = document.definitions.some(
    (node) =>
      node.kind === Kind.OPERATION_DEFINITION && node.operation === OperationTypeNode.MUTATION,
  );
  let selections = 0;
  const visitor = visitWithTypeInfo(types, {
    SelectionSet: (set) => {
      const type = types.getParentType();
      const added = type ? selectionsFor(type, schema, hidden, isMutation) : [];
      const missing = added.filter((node) => !isSelected(node, set));
      selections += missing.length;
      if (selections > 2 * LIMITS.selections)
        fail('OPERATION_TOO_COMPLEX', 'too many types of objects have the ID of a member');
      return missing.length === 0
        ? undefined
        : { ...set, selections: [...set.selections, ...missing] };
    },
  });
  return visit(document, visitor);
}

/**
 * What finds the member of an object of this type; undefined if such objects have none. `collect`
 * is for the caller's document, and `sets` are its selections of the object.
 */
export function createAccessRecorder(
  {
    schema,
    hiddenMembers,
    collect,
    operation,
    isMutation,
  }: {
    schema: GraphQLSchema;
    hiddenMembers: ReadonlySet<string>;
    collect: Collect;
    operation: string;
    isMutation: boolean;
  },
  type: GraphQLObjectType | GraphQLInterfaceType,
  sets: readonly SelectionSetNode[],
): RecordAccess | undefined {
  if (hasMemberId(type) || hiddenMembers.has(type.name)) {
    let fields: readonly string[] | undefined;
    return (data, isShown, accesses) => {
      if (isShown) fields ??= leavesOf(schema, collect, type, sets).slice(0, MAX_FIELDS);
      add(data, (isShown && fields) || NO_FIELDS, operation, accesses);
    };
  }
  const memberFields = new Set(isMutation ? memberFieldsOf(type, schema) : []);
  if (memberFields.size === 0) return undefined;
  return (data, _isShown, accesses) => {
    for (const [name, value] of Object.entries(data))
      if (memberFields.has(name))
        for (const item of [value].flat()) add(item, NO_FIELDS, operation, accesses);
  };
}

function add(
  data: unknown,
  fields: readonly string[],
  operation: string,
  accesses: Accesses,
): void {
  if (typeof data !== 'object' || data === null) return;
  const { memberId } = data as { memberId?: unknown };
  if (typeof memberId !== 'string' && typeof memberId !== 'number') return;
  if (isLongerThan(String(memberId), MAX_MEMBER_ID)) return;
  accesses.add(operation, String(memberId), fields);
}

/**
 * The fields of a mutation's payload that are members: the mutation has changed them, even if the
 * caller selects none. Empty for other types.
 */
function memberFieldsOf(
  type: GraphQLObjectType | GraphQLInterfaceType,
  schema: GraphQLSchema,
): string[] {
  if (!payloadsOf(schema).has(type)) return [];
  return Object.values(type.getFields()).flatMap(({ name, args, type: fieldType }) =>
    args.length === 0 && hasMemberId(getNamedType(fieldType)) ? [name] : [],
  );
}

const payloads = new WeakMap<GraphQLSchema, ReadonlySet<GraphQLNamedType>>();

function payloadsOf(schema: GraphQLSchema): ReadonlySet<GraphQLNamedType> {
  const known = payloads.get(schema);
  if (known !== undefined) return known;
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  const types = new Set(mutations.map(({ type }) => getNamedType(type)));
  payloads.set(schema, types);
  return types;
}

function selectionsFor(
  type: GraphQLNamedType,
  schema: GraphQLSchema,
  hidden: ReadonlySet<string>,
  isMutation: boolean,
): SelectionNode[] {
  if (hasMemberId(type) || hidden.has(type.name)) return [fieldNode(MEMBER_ID)];
  if (isAbstractType(type))
    return schema
      .getPossibleTypes(type)
      .filter(hasMemberId)
      .map(({ name }) => ({
        kind: Kind.INLINE_FRAGMENT,
        typeCondition: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: name } },
        selectionSet: ID_ONLY,
      }));
  if (!isMutation || !isObjectType(type)) return [];
  return memberFieldsOf(type, schema).map((name) => ({
    ...fieldNode(name),
    selectionSet: ID_ONLY,
  }));
}

function fieldNode(name: string): FieldNode {
  return { kind: Kind.FIELD, name: { kind: Kind.NAME, value: name } };
}

const ID_ONLY: SelectionSetNode = {
  kind: Kind.SELECTION_SET,
  selections: [fieldNode(MEMBER_ID)],
};

function isSelected(node: SelectionNode, { selections }: SelectionSetNode): boolean {
  return (
    node.kind === Kind.FIELD &&
    node.selectionSet === undefined &&
    selections.some(
      (each) =>
        each.kind === Kind.FIELD &&
        each.alias === undefined &&
        each.name.value === node.name.value &&
        (each.directives ?? []).length === 0,
    )
  );
}

/** The selected leaves below an object, by their names in the schema: `partnerStandings.points`. */
function leavesOf(
  schema: GraphQLSchema,
  collect: Collect,
  type: GraphQLObjectType | GraphQLInterfaceType,
  sets: readonly SelectionSetNode[],
): string[] {
  const leaves = new Set<string>();
  for (const nodes of collect(type, sets).values()) {
    const name = nodes[0]?.name.value ?? '';
    const inner = getNamedType(type.getFields()[name]?.type);
    const below = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    if (isObjectType(inner) || isInterfaceType(inner))
      for (const leaf of leavesOf(schema, collect, inner, below)) leaves.add(`${name}.${leaf}`);
    else leaves.add(name);
  }
  return [...leaves];
}

/** The types of a supergraph that have a member's ID, as hasMemberId finds it. */
export function memberIdTypesOf({ definitions }: DocumentNode): Set<string> {
  const objects = definitions.filter(
    (node) =>
      node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.INTERFACE_TYPE_DEFINITION,
  );
  const unions = definitions.filter((node) => node.kind === Kind.UNION_TYPE_DEFINITION);
  const composite = new Set([...objects, ...unions].map(({ name }) => name.value));
  const isMemberId = ({ name, arguments: args = [], type }: FieldDefinitionNode) =>
    name.value === MEMBER_ID && args.length === 0 && !composite.has(namedType(type));
  const found = objects.filter(({ fields = [] }) => fields.some(isMemberId));
  return new Set(found.map(({ name }) => name.value));
}

/** The types that callers see without the member ID that they have in the graph. */
export function hiddenMembersOf(inGraph: ReadonlySet<string>, api: GraphQLSchema): Set<string> {
  const isHidden = (name: string) => {
    const type = api.getType(name);
    return type !== undefined && !hasMemberId(type);
  };
  return new Set([...inGraph].filter(isHidden));
}

/** Whether the type has a member's ID that can be selected without arguments. */
function hasMemberId(type: GraphQLNamedType | null | undefined): boolean {
  if (!isObjectType(type) && !isInterfaceType(type)) return false;
  const field = type.getFields()[MEMBER_ID];
  return field !== undefined && field.args.length === 0 && isLeafType(getNamedType(field.type));
}
