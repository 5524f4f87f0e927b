// The bounds on what a subgraph adds to the schemas that all callers read.
import {
  MAX_RESPONSE_BYTES,
  ResponseSize,
} from '@partner-loyalty/gateway/document/responsesize.ts';
import { introspect } from '@partner-loyalty/gateway/execute/introspect.ts';
import type { Need } from '@partner-loyalty/gateway/graph/tables.ts';
import { argumentsOf } from '@partner-loyalty/gateway/schema/definitions.ts';
import { elementsOf } from '@partner-loyalty/gateway/schema/deprecations.ts';
import { SURFACE_NAMES } from '@partner-loyalty/gateway/schema/surfaces.ts';
import { characterFault } from '@partner-loyalty/runtime/input.ts';
import {
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  type IntrospectionQuery,
  isInputObjectType,
  Kind,
  parse,
  print,
  Source,
  TokenKind,
  type TypeNode,
  type ValueNode,
  visit,
} from 'graphql';
import type { SurfaceSchemas } from './changes.ts';
import { located } from './compose.ts';
import { type JoinedGraph, joinedGraph } from './joined.ts';

const MAX_PROSE_BYTES = 64 * 1_024;
/** The maximum of comments, and of blanks beyond twice the rest: every version keeps them. */
const MAX_COMMENT_BYTES = 64 * 1_024;
const MAX_NAME = 128;
/** Of lists in lists: a value that stands for them is put into as many, each time it is sent. */
const MAX_LISTS = 5;
/** In characters, of a default value with those of the fields that it leaves out. */
const MAX_DEFAULT = 16_384;
/** Sums of such lengths are exact. */
const MAX_COUNTED = 1e12;
const MAX_INTROSPECTION_BYTES = MAX_RESPONSE_BYTES / 2;
/** Of one subgraph. */
const MAX_SHARE_BYTES = MAX_INTROSPECTION_BYTES / 4;

/** Faults of the names and texts of a schema, which must be SDL. */
export function proseFaults(sdl: string, file: string): string[] {
  const faults: string[] = [];
  let bytes = 0;
  let comments = 0;
  let content = 0;
  const document = parse(new Source(sdl, file));
  for (let token = document.loc?.startToken; token; token = token.next ?? undefined) {
    const isComment = token.kind === TokenKind.COMMENT;
    const { value, start, end } = token;
    const length = value === undefined ? end - start : Buffer.byteLength(value);
    if (isComment) comments += length + 1;
    else content += length;
    const fault = isComment ? characterFault(token.value, true) : undefined;
    if (fault !== undefined)
      faults.push(`${file}:${token.line}:${token.column}: a comment must not contain ${fault}`);
  }
  visit(document, {
    Name(node) {
      const { length } = node.value;
      if (length > MAX_NAME)
        faults.push(located(`a name has ${length} characters, and may have ${MAX_NAME}`, [node]));
    },
    ListType(node) {
      let lists = 0;
      for (let type: TypeNode = node; type.kind !== Kind.NAMED_TYPE; type = type.type)
        if (type.kind === Kind.LIST_TYPE) lists += 1;
      if (lists <= MAX_LISTS) return undefined;
      faults.push(located(`a type has lists ${lists} deep, and may have ${MAX_LISTS}`, [node]));
      return false;
    },
    StringValue(node, key) {
      if (key === 'description') bytes += Buffer.byteLength(node.value);
      const fault = characterFault(node.value, true);
      if (fault !== undefined) faults.push(located(`a text must not contain ${fault}`, [node]));
    },
    Directive(node) {
      const [{ reason } = {}] = argumentsOf([node], 'deprecated');
      if (typeof reason === 'string') bytes += Buffer.byteLength(reason);
    },
  });
  if (bytes > MAX_PROSE_BYTES)
    faults.push(
      `${file}: descriptions and deprecation reasons have ${bytes} bytes, and may have ${MAX_PROSE_BYTES}`,
    );
  const blanks = Buffer.byteLength(sdl) - comments - content;
  const skipped = comments + Math.max(blanks - 2 * content, 0);
  if (skipped > MAX_COMMENT_BYTES)
    faults.push(
      `${file}: comments and blanks have ${skipped} bytes, and may have ${MAX_COMMENT_BYTES}`,
    );
  return faults;
}

/** Faults of surfaces that grow until a caller cannot read their whole schema in one response. */
export function introspectionFaults(before: SurfaceSchemas, after: SurfaceSchemas): string[] {
  return SURFACE_NAMES.flatMap((surface) => {
    const bytes = introspectionBytes(after[surface]);
    if (bytes <= MAX_INTROSPECTION_BYTES || bytes <= introspectionBytes(before[surface])) return [];
    return `the ${surface} surface: its introspection has ${bytes} bytes, and may have ${MAX_INTROSPECTION_BYTES}`;
  });
}

/**
 * Faults of default values that contain others: callers' tools write them out, those of 35 input
 * types with two fields each 2^34 times.
 */
export function defaultFaults(before: SurfaceSchemas, after: SurfaceSchemas): string[] {
  return SURFACE_NAMES.flatMap((surface) => {
    const former = defaultLengths(before[surface]);
    return [...defaultLengths(after[surface])].flatMap(([coordinate, { length, written }]) =>
      length <= Math.max(MAX_DEFAULT, written, former.get(coordinate)?.length ?? 0)
        ? []
        : `the ${surface} surface: the default value of ${coordinate} has ${length} characters with those of its fields, and may have ${MAX_DEFAULT}`,
    );
  });
}

/** By coordinate. Each type is measured once, however many default values contain it. */
function defaultLengths(schema: GraphQLSchema) {
  const initial = new Map<GraphQLInputObjectType, number>();
  function initialOf(type: GraphQLInputObjectType): number {
    const known = initial.get(type);
    if (known !== undefined) return known;
    let length = 2;
    for (const field of Object.values(type.getFields()))
      length += memberLength(field, field.astNode?.defaultValue);
    initial.set(type, length);
    return length;
  }
  function memberLength({ name, type }: GraphQLInputField, value: ValueNode | undefined): number {
    return value === undefined ? 0 : name.length + lengthOf(value, type);
  }
  function lengthOf(value: ValueNode, type: GraphQLInputType): number {
    if (value.kind === Kind.LIST)
      return value.values.reduce((sum, each) => sum + lengthOf(each, type), 2);
    const named = getNamedType(type);
    if (value.kind !== Kind.OBJECT || !isInputObjectType(named)) return print(value).length;
    const fields = named.getFields();
    const length = value.fields.reduce((sum, { name, value: given }) => {
      const field = fields[name.value];
      if (field === undefined) return sum;
      return sum + memberLength(field, given) - memberLength(field, field.astNode?.defaultValue);
    }, initialOf(named));
    return Math.min(length, MAX_COUNTED);
  }
  const found = new Map<string, { length: number; written: number }>();
  for (const [coordinate, element] of elementsOf(schema)) {
    if (!('defaultValue' in element)) continue;
    const value = element.astNode?.defaultValue;
    if (value === undefined) continue;
    found.set(coordinate, { length: lengthOf(value, element.type), written: print(value).length });
  }
  return found;
}

/**
 * What an operator has to approve: a subgraph has more than its share of a surface's introspection,
 * which would leave too little for others, and more than before.
 */
export function shareNeeds(
  before: { surfaces: SurfaceSchemas; supergraph: string },
  after: { surfaces: SurfaceSchemas; supergraph: string },
  name: string,
): Need[] {
  return SURFACE_NAMES.flatMap((surface) => {
    const bytesIn = ({ surfaces, supergraph }: typeof after) =>
      ownBytes(introspected(surfaces[surface]), joinedGraph(supergraph), name);
    if (introspectionBytes(after.surfaces[surface]) <= MAX_SHARE_BYTES) return [];
    const bytes = bytesIn(after);
    if (bytes <= MAX_SHARE_BYTES || bytes <= bytesIn(before)) return [];
    const what = `${name} would have ${bytes} bytes of the introspection of the ${surface} surface, over ${MAX_SHARE_BYTES}`;
    return { rule: 'size', what, losing: [] };
  });
}

/** The bytes of the types and members that a subgraph declares. */
function ownBytes(
  { __schema: { types } }: IntrospectionQuery,
  { parts }: JoinedGraph,
  name: string,
): number {
  const isOwn = (coordinate: string) => parts.get(`${coordinate} `)?.owners.has(name);
  let bytes = 0;
  for (const type of types) {
    const { fields, inputFields, enumValues, ...rest } = { ...NO_MEMBERS, ...type };
    if (isOwn(type.name)) bytes += bytesOf(rest);
    for (const member of [...(fields ?? []), ...(inputFields ?? []), ...(enumValues ?? [])])
      if (isOwn(`${type.name}.${member.name}`)) bytes += bytesOf(member);
  }
  return bytes;
}
const NO_MEMBERS = { fields: [], inputFields: [], enumValues: [] };

const EVERYTHING = parse(
  getIntrospectionQuery({
    ...{ specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true },
    ...{ inputValueDeprecation: true, oneOf: true },
  }),
);

function introspectionBytes(schema: SurfaceSchemas['partner']): number {
  return bytesOf({ data: introspected(schema) });
}

function introspected(schema: SurfaceSchemas['partner']): IntrospectionQuery {
  const data = introspect(schema, EVERYTHING, {}, new ResponseSize(Number.POSITIVE_INFINITY));
  // Cast: the document is the query of this type.
  return data as unknown as IntrospectionQuery;
}

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}
