// Turns literals into variables, so that operations that differ only in arguments share a plan.
import { eachNode } from '@partner-loyalty/runtime/cache/document.ts';
import {
  type ASTNode,
  type DocumentNode,
  type FloatValueNode,
  type GraphQLInputType,
  type GraphQLSchema,
  GraphQLString,
  getNamedType,
  getNullableType,
  type IntValueNode,
  isInputObjectType,
  isInputType,
  isLeafType,
  isListType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  parseType,
  print,
  type StringValueNode,
  TypeInfo,
  type ValueNode,
  type VariableDefinitionNode,
  type VariableNode,
  valueFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';

export function containsLiterals(document: DocumentNode): boolean {
  return contains(document, isLiteral);
}

/** The document with an empty string in place of each literal. */
export function withoutLiterals(document: DocumentNode): DocumentNode {
  return visit(document, { enter: (node) => (isLiteral(node) ? NO_LITERAL : undefined) });
}

const NO_LITERAL: StringValueNode = { kind: Kind.STRING, value: '' };

/**
 * A literal that its JSON would change, such as the numbers `9007199254740993` and `10.10`, and is
 * therefore written into the operation for a subgraph.
 */
export class Verbatim {
  readonly text: string;
  constructor(node: ValueNode) {
    // A text in lines would be looked through for each line.
    this.text = print(visit(node, { StringValue: ({ kind, value }) => ({ kind, value }) }));
  }
}

/**
 * A validated document with its literals replaced by variables, and the values of those. Equal
 * literals have one variable, so that equal fields stay equal. The operation comes first.
 * Introspection, directives and default values keep their literals.
 */
export function liftLiterals(
  document: DocumentNode,
  schema: GraphQLSchema,
): { document: DocumentNode; literals: Record<string, unknown> } {
  const literals: Record<string, unknown> = {};
  if (!contains(document, isLiftable)) return { document, literals };
  const definitions: VariableDefinitionNode[] = [];
  const takenNames = variableNames(document);
  const known = new Map<string, VariableNode>();
  const types = new TypeInfo(schema);

  /** Undefined leaves the value itself as it is. */
  function lift(value: ValueNode): VariableNode | undefined {
    const type = value.kind === Kind.LIST ? types.getParentInputType() : types.getInputType();
    // Within a custom scalar, values have no type.
    if (!isInputType(type)) return isInexact(value) ? replace(value, GraphQLString) : undefined;
    const nullable = getNullableType(type);
    const isCustom = isCustomScalar(value.kind === Kind.LIST ? nullable : getNamedType(type));
    // A list is lifted whole: otherwise each length would have a plan of its own.
    const isWhole = isCustom || (value.kind === Kind.LIST && isListType(nullable));
    const isLifted = isWhole
      ? !contains(value, ({ kind }) => kind === Kind.VARIABLE)
      : isLiteral(value) && isLeafType(getNamedType(type));
    return isLifted ? replace(value, nullable) : undefined;
  }

  function replace(value: ValueNode, type: GraphQLInputType): VariableNode {
    const text = `${type} ${print(inOrder(value))}`;
    const variable = known.get(text) ?? variableFor(value, type);
    known.set(text, variable);
    return variable;
  }

  function variableFor(value: ValueNode, type: GraphQLInputType): VariableNode {
    const name = freeName(takenNames, 'literal');
    literals[name] = isChanged(value, type) ? new Verbatim(value) : jsonOf(value, type);
    const variable: VariableNode = { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name } };
    definitions.push({ kind: Kind.VARIABLE_DEFINITION, variable, type: parseType(`${type}!`) });
    return variable;
  }

  const lifted = visit(
    document,
    visitWithTypeInfo(types, {
      enter: (node) => {
        if (node.kind === Kind.VARIABLE_DEFINITION || node.kind === Kind.DIRECTIVE) return false;
        if (node.kind === Kind.FIELD && node.name.value.startsWith('__')) return false;
        return isLiftable(node) ? lift(node) : undefined;
      },
    }),
  );
  return { document: withVariables(lifted, definitions), literals };
}

/**
 * The operation for a subgraph, with the literals in it that JSON would change. `write` is called
 * with the characters of each before it is written.
 */
export function withVerbatim(
  query: string,
  variables: Record<string, unknown>,
  write: (characters: number) => void,
): string {
  const literals = new Map<string, string>();
  for (const [name, value] of Object.entries(variables))
    if (value instanceof Verbatim) literals.set(name, value.text);
  if (literals.size === 0) return query;
  const written = query.replace(STRING_OR_VARIABLE, (all, name: string, type?: string) => {
    const text = literals.get(name);
    if (text === undefined) return all;
    if (type !== undefined) return '';
    write(text.length);
    return ` ${text}`;
  });
  for (const name of literals.keys()) delete variables[name];
  return written.replace(NO_DEFINITIONS, '$1');
}

/** Of an operation: a string, or a variable, with its type where that is defined. */
const STRING_OR_VARIABLE = /"""(?:\\"""|.)*?"""|"(?:\\.|[^"\\])*"|\$(\w+)(\s*:\s*[\w![\]]+)?/gs;
const NO_DEFINITIONS = /^(\w+)\s*\([\s,]*\)/;

/** Whether JSON would change a literal somewhere. */
function isChanged(value: ValueNode, type: GraphQLInputType): boolean {
  const nullable = getNullableType(type);
  const isWithin = (inner: ValueNode, of: GraphQLInputType | undefined) =>
    of !== undefined && isChanged(inner, of);
  if (isListType(nullable))
    return value.kind === Kind.LIST
      ? value.values.some((each) => isWithin(each, nullable.ofType))
      : isWithin(value, nullable.ofType);
  if (isInputObjectType(nullable) && value.kind === Kind.OBJECT) {
    const fields = nullable.getFields();
    return value.fields.some((each) => isWithin(each.value, fields[each.name.value]?.type));
  }
  return isCustomScalar(nullable)
    ? contains(value, (node) => isInexact(node) || isEnum(node))
    : isInfinite(value) || valueFromAST(value, nullable) === undefined;
}

/** The JSON of a literal. Defaults are left out: those of a composed schema may be rounded. */
function jsonOf(value: ValueNode, type: GraphQLInputType): unknown {
  const nullable = getNullableType(type);
  if (value.kind === Kind.LIST && isListType(nullable))
    return value.values.map((each) => jsonOf(each, nullable.ofType));
  if (value.kind === Kind.OBJECT && isInputObjectType(nullable)) {
    const fields = nullable.getFields();
    return Object.fromEntries(
      value.fields.map(({ name: { value: name }, value: inner }) => {
        const field = fields[name];
        return [name, field && jsonOf(inner, field.type)];
      }),
    );
  }
  if (isListType(nullable) && value.kind !== Kind.NULL) return [jsonOf(value, nullable.ofType)];
  return valueFromAST(value, nullable);
}

/** Equal values as equal text, as validation compares them. */
function inOrder(value: ValueNode): ValueNode {
  return visit(value, {
    ObjectValue: (node) => ({
      ...node,
      fields: node.fields.toSorted((one, other) => (one.name.value < other.name.value ? -1 : 1)),
    }),
  });
}

function isCustomScalar(type: GraphQLInputType): boolean {
  return isScalarType(type) && !isSpecifiedScalarType(type);
}

function isInexact(node: ASTNode): boolean {
  return isNumber(node) && String(Number(node.value)) !== node.value;
}

/** JSON has no such number. */
function isInfinite(node: ASTNode): boolean {
  return isNumber(node) && !Number.isFinite(Number(node.value));
}

function isNumber(node: ASTNode): node is IntValueNode | FloatValueNode {
  return node.kind === Kind.INT || node.kind === Kind.FLOAT;
}

function contains(document: ASTNode, isWanted: (node: ASTNode) => boolean): boolean {
  let found = false;
  eachNode(document, (node) => {
    if (isWanted(node)) found = true;
  });
  return found;
}

function isLiteral(node: ASTNode): node is StringValueNode | IntValueNode | FloatValueNode {
  return node.kind === Kind.STRING || node.kind === Kind.INT || node.kind === Kind.FLOAT;
}

/** A list or an object may be an empty one; custom scalars may be any of these. */
function isLiftable(node: ASTNode): node is Exclude<ValueNode, VariableNode> {
  return isLiteral(node) || isEnum(node) || node.kind === Kind.LIST || node.kind === Kind.OBJECT;
}

function isEnum({ kind }: ASTNode): boolean {
  return kind === Kind.ENUM;
}

/**
 * The document without a variable of the name that fetches of entities have for their own, and the
 * name that it has instead.
 */
export function withoutReservedName(document: DocumentNode) {
  const names = variableNames(document);
  if (!names.has(RESERVED_NAME)) return { document, renamed: undefined };
  const renamed = freeName(names, RESERVED_NAME);
  const name = { kind: Kind.NAME, value: renamed } as const;
  const visitor = {
    Variable: (node: VariableNode) =>
      node.name.value === RESERVED_NAME ? { ...node, name } : undefined,
  };
  return { document: visit(document, visitor), renamed };
}

export const RESERVED_NAME = 'representations';

function variableNames(document: ASTNode): Set<string> {
  const names = new Set<string>();
  eachNode(document, (node) => {
    if (node.kind === Kind.VARIABLE) names.add(node.name.value);
  });
  return names;
}

function withVariables(
  { definitions: [operation, ...rest] }: DocumentNode,
  added: readonly VariableDefinitionNode[],
): DocumentNode {
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('the operation comes first');
  const variableDefinitions = [...(operation.variableDefinitions ?? []), ...added];
  return { kind: Kind.DOCUMENT, definitions: [{ ...operation, variableDefinitions }, ...rest] };
}

function freeName(taken: Set<string>, prefix: string): string {
  let number = taken.size;
  while (taken.has(`${prefix}${number}`)) number += 1;
  const name = `${prefix}${number}`;
  taken.add(name);
  return name;
}
