// Turns literals into variables, so that operations that differ only in arguments share a plan.
import { eachNode } from '@partner-loyalty/runtime/cache/document.ts';
import {
  type ASTNode,
  type DocumentNode,
  type FloatValueNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  type IntValueNode,
  isInputType,
  isLeafType,
  isListType,
  isNonNullType,
  Kind,
  type ListValueNode,
  parseType,
  type StringValueNode,
  TypeInfo,
  type TypeNode,
  type ValueNode,
  type VariableDefinitionNode,
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
 * A validated document with its literals replaced by variables, and the values of those. The
 * operation comes first. Introspection, directives and default values keep their literals.
 */
export function liftLiterals(
  document: DocumentNode,
  schema: GraphQLSchema,
): { document: DocumentNode; literals: Record<string, unknown> } {
  const literals: Record<string, unknown> = {};
  // A list may be an empty one.
  if (!contains(document, (node) => isLiteral(node) || node.kind === Kind.LIST))
    return { document, literals };
  const definitions: VariableDefinitionNode[] = [];
  const takenNames = variableNames(document);
  const types = new TypeInfo(schema);

  function lift(value: ValueNode) {
    const type = types.getInputType();
    if (type === null || type === undefined || !isLeafType(getNamedType(type))) return undefined;
    return replace(value, type);
  }

  // As a whole: otherwise each length of a list would have a plan of its own.
  function liftList(list: ListValueNode) {
    const type = types.getParentInputType();
    if (!isInputType(type) || !isListType(getNullableType(type)) || contains(list, isVariable))
      return undefined;
    return replace(list, type);
  }

  function replace(value: ValueNode, type: GraphQLInputType) {
    const name = freeName(takenNames);
    literals[name] = valueFromAST(value, isNonNullType(type) ? type.ofType : type);
    const variable = { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name } } as const;
    const variableType = asNonNull(parseType(String(type)));
    definitions.push({ kind: Kind.VARIABLE_DEFINITION, variable, type: variableType });
    return variable;
  }

  const lifted = visit(
    document,
    visitWithTypeInfo(types, {
      enter: (node) => {
        if (node.kind === Kind.LIST) return liftList(node);
        if (node.kind === Kind.VARIABLE_DEFINITION || node.kind === Kind.DIRECTIVE) return false;
        if (node.kind === Kind.FIELD && node.name.value.startsWith('__')) return false;
        return isLiteral(node) ? lift(node) : undefined;
      },
    }),
  );
  return { document: withVariables(lifted, definitions), literals };
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

function isVariable({ kind }: ASTNode): boolean {
  return kind === Kind.VARIABLE;
}

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

function freeName(taken: Set<string>): string {
  let number = taken.size;
  while (taken.has(`literal${number}`)) number += 1;
  const name = `literal${number}`;
  taken.add(name);
  return name;
}

function asNonNull(type: TypeNode): TypeNode {
  return type.kind === Kind.NON_NULL_TYPE ? type : { kind: Kind.NON_NULL_TYPE, type };
}
