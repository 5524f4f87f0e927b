// Generates the client's error codes and, from a surface's schema, its types and operations.
import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import { ERRORS, type ErrorRow } from '@partner-loyalty/runtime/errors.ts';
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
} from 'graphql';

export function clientErrors(): string {
  const rows: [string, ErrorRow][] = Object.entries(ERRORS);
  const codes = rows.map(
    ([code, { status, when, reasons = [], retry = 'never' }]) => `  /**
   * ${plain(when)}
   * HTTP status ${status}.
   */
  ${code}: { status: ${status}, reasons: ${JSON.stringify(reasons)}, retry: '${retry}' },
`,
  );
  return `// The service's error codes, generated from its table by \`npm run generate\`.

/**
 * Each code with the HTTP status of a request that fails with it, its reasons, and which requests
 * are sent again.
 */
export const SERVICE_CODES = {
${codes.join('')}} as const;
`;
}

/** Without links, which lead to files that the package does not have. */
function plain(text: string): string {
  return text.replace(/\[([^[\]]*)\]\([^()[\]]*\)/g, '$1').replaceAll('*/', '*\\/');
}

const CONFIG = {
  skipTypename: true,
  enumsAsTypes: true,
  useTypeImports: true,
  immutableTypes: true,
  maybeValue: 'T | null',
  // Objects in a response have each of their fields; in an input, what may be null may be absent.
  avoidOptionals: { field: true },
  inputMaybeValue: 'T | null | undefined',
  scalars: { DateTime: 'string' },
  strictScalars: true,
};

/** The text of the generated file. `schema` is the surface's, as SDL. */
export async function clientTypes(surface: string, schema: string): Promise<string> {
  const types = await codegen({
    filename: 'schema.generated.ts',
    schema: parse(schema),
    documents: [],
    config: CONFIG,
    pluginMap: { typescript, operations: { plugin: operations } },
    plugins: [{ typescript: {} }, { operations: {} }],
  });
  const firstLine = `// The ${surface} surface, generated from its schema by \`npm run generate\`.`;
  return `${firstLine}\n${types.trimEnd()}\n`;
}

function operations(schema: GraphQLSchema) {
  const objects = objectTypes(schema);
  const roots = [schema.getQueryType(), schema.getMutationType()].filter((type) => type != null);
  return {
    prepend: [
      "import type { Operation } from '../surface/operation.ts';",
      "import type { Schema } from '../surface/schema.ts';",
    ],
    content: [
      ...objects.filter((type) => !roots.includes(type)).map(selectionType),
      '/** What a method selects without `select`: every field that takes no arguments. */',
      `export const DEFAULTS = {\n${roots
        .flatMap((root) => fieldsOf(root))
        .map((field) => namedObject(field.type))
        .filter((type, index, all) => all.indexOf(type) === index)
        .map((type) => `  ${type.name}: ${defaultSelection(type, [type])},\n`)
        .join('')}} as const;`,
      '/** The methods of the surface, one for each of its root fields. */',
      `export type Operations = {\n${roots
        .flatMap((root) => fieldsOf(root).map((field) => method(root, field)))
        .join('\n')}};`,
      '/** The objects of the surface, to build documents and to check responses. */',
      `export const SCHEMA = {\n${objects.map(tableOf).join('')}} as const satisfies Schema;`,
    ].join('\n\n'),
  };
}

function objectTypes(schema: GraphQLSchema): GraphQLObjectType[] {
  return Object.values(schema.getTypeMap()).filter(
    (type): type is GraphQLObjectType => isObjectType(type) && !type.name.startsWith('__'),
  );
}

/** Leaves out fields of abstract types: a selection without fragments cannot distinguish them. */
function fieldsOf(type: GraphQLObjectType): GraphQLField<unknown, unknown>[] {
  return Object.values(type.getFields()).filter(
    (field) => !isAbstractType(getNamedType(field.type)),
  );
}

/** Every root field of the surfaces returns an object or a list of objects, or it has no method. */
function namedObject(type: GraphQLOutputType): GraphQLObjectType {
  const named: GraphQLNamedType = getNamedType(type);
  if (!isObjectType(named)) throw new Error(`the client has no methods that return ${named.name}`);
  return named;
}

function selectionType(type: GraphQLObjectType): string {
  const fields = fieldsOf(type).map(
    (field) => `${comment(field)}  readonly ${field.name}?: ${selectionOf(type, field)};\n`,
  );
  return `export type ${type.name}Selection = {\n${fields.join('')}};`;
}

function selectionOf(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): string {
  const named = getNamedType(field.type);
  if (isLeafType(named)) return 'true';
  const selection = `${named.name}Selection`;
  if (field.args.length === 0) return selection;
  return `${selection} & { readonly $arguments?: ${argumentsType(type, field)} }`;
}

/** The name that codegen gives the type. */
function argumentsType({ name }: GraphQLObjectType, field: GraphQLField<unknown, unknown>): string {
  return `${name}${field.name.slice(0, 1).toUpperCase()}${field.name.slice(1)}Args`;
}

/**
 * All fields that take no arguments, down to the last object: a field with arguments is a list with
 * pages, which callers ask for. Deprecated fields are left out, and a type within itself.
 */
function defaultSelection(type: GraphQLObjectType, within: readonly GraphQLObjectType[]): string {
  const fields = fieldsOf(type)
    .filter(({ args, deprecationReason }) => args.length === 0 && deprecationReason == null)
    .flatMap((field) => {
      const named = getNamedType(field.type);
      if (!isObjectType(named)) return [`${field.name}: true`];
      if (within.includes(named)) return [];
      return [`${field.name}: ${defaultSelection(named, [...within, named])}`];
    });
  return `{ ${fields.join(', ')} }`;
}

function method(root: GraphQLObjectType, field: GraphQLField<unknown, unknown>): string {
  const named = namedObject(field.type);
  // A query for one object is a look-up, which may find nothing. Nothing else is null without an
  // error.
  const isLookup = root.name === 'Query' && isObjectType(field.type);
  const result = resultType(field.type);
  const variables = field.args.length === 0 ? 'Record<string, never>' : argumentsType(root, field);
  return `${comment(field)}  ${field.name}: Operation<
    ${variables},
    ${result}${isLookup ? ' | null' : ''},
    ${named.name}Selection,
    typeof DEFAULTS.${named.name}
  >;
`;
}

/** Without the null of the type itself. */
function resultType(type: GraphQLOutputType): string {
  if (isNonNullType(type)) return resultType(type.ofType);
  if (!isListType(type)) return namedObject(type).name;
  const item = resultType(type.ofType);
  return `ReadonlyArray<${isNonNullType(type.ofType) ? item : `${item} | null`}>`;
}

function comment({ description, deprecationReason }: GraphQLField<unknown, unknown>): string {
  const text = [description, deprecationReason && `@deprecated ${deprecationReason}`]
    .filter((part) => part)
    .join('\n')
    .replaceAll('*/', '*\\/');
  if (text === '') return '';
  if (!text.includes('\n')) return `  /** ${text} */\n`;
  const lines = text.split('\n').map((line) => `   * ${line}`.trimEnd());
  return `  /**\n${lines.join('\n')}\n   */\n`;
}

function tableOf(type: GraphQLObjectType): string {
  const fields = fieldsOf(type).map((field) => {
    const named = getNamedType(field.type);
    const parts = [`type: '${field.type}'`];
    if (!isObjectType(named)) parts.push(`leaf: '${jsonType(named.name)}'`);
    if (field.args.length > 0)
      parts.push(`arguments: { ${field.args.map(({ name, type }) => `${name}: '${type}'`)} }`);
    return `    ${field.name}: { ${parts.join(', ')} },\n`;
  });
  return `  ${type.name}: {\n${fields.join('')}  },\n`;
}

/** Enums, IDs and DateTimes are strings. */
function jsonType(name: string): string {
  if (name === 'Int' || name === 'Float') return 'number';
  return name === 'Boolean' ? 'boolean' : 'string';
}
