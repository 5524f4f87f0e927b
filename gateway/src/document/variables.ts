// Checks the variables of a request against the definitions of its operation.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import {
  type ArgumentNode,
  BREAK,
  coerceInputValue,
  type DocumentNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  type GraphQLType,
  getNullableType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  type ObjectFieldNode,
  TypeInfo,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { LIMITS } from './measure.ts';
import { GraphqlRequestError, hidesSuggestions, MAX_REQUEST_ERRORS } from './validation.ts';

export type VariableRules = {
  definitions: readonly VariableDefinitionNode[];
  /**
   * Nullable variables used in places that do not accept null, which their default value allows
   * (GraphQL, section 5.8.5).
   */
  nonNullVariables: readonly string[];
  /** The names of all variables, if each is a required string or ID; undefined otherwise. */
  texts: readonly string[] | undefined;
  /** Whose variables they are. */
  document: DocumentNode;
};

/** The rules for the variables of an operation, which is the only one of its document. */
export function variableRulesOf(
  document: DocumentNode,
  definitions: readonly VariableDefinitionNode[] = [],
  schema: GraphQLSchema,
): VariableRules {
  return {
    definitions,
    nonNullVariables: nonNullVariablesOf(document, definitions, schema),
    texts: definitions.every(isRequiredText)
      ? definitions.map(({ variable }) => variable.name.value)
      : undefined,
    document,
  };
}

/**
 * The variables with their default values. Throws BAD_USER_INPUT if they break the rules, and
 * OPERATION_TOO_COMPLEX if they have too many fields (docs/callers/limits.md).
 */
export function coerceVariables(
  schema: GraphQLSchema,
  rules: VariableRules,
  variables: Record<string, unknown>,
): Record<string, unknown> {
  const { definitions, nonNullVariables, texts } = rules;
  const asSent = texts && textsIn(variables, texts);
  if (asSent !== undefined) return asSent;
  requireFewFields(schema, definitions, variables);
  const coerced = coerceEach(schema, rules, variables);
  const [name, ...path] = inexactId(coerced, variables) ?? [];
  if (name !== undefined)
    fail('BAD_USER_INPUT', `Variable "$${name}" has an ID beyond 2^53: send it as a string.`, {
      argument: [argumentPathOf(rules.document, name), ...path].join('.'),
    });
  const nullName = nonNullVariables.find((name) => variables[name] === null);
  if (nullName !== undefined)
    fail('BAD_USER_INPUT', `Variable "$${nullName}" is used where null is not allowed.`, {
      argument: argumentPathOf(rules.document, nullName),
    });
  return coerced;
}

function isRequiredText({ type, defaultValue }: VariableDefinitionNode): boolean {
  if (type.kind !== Kind.NON_NULL_TYPE || type.type.kind !== Kind.NAMED_TYPE) return false;
  const name = type.type.name.value;
  return (name === 'String' || name === 'ID') && defaultValue === undefined;
}

/** The variables if all values are strings, as in most look-ups: what graphql-js would return. */
function textsIn(
  variables: Record<string, unknown>,
  names: readonly string[],
): Record<string, unknown> | undefined {
  const coerced: Record<string, unknown> = {};
  for (const name of names) {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    // An assignment to __proto__ would set no property.
    if (typeof value !== 'string' || name === '__proto__') return undefined;
    coerced[name] = value;
  }
  return coerced;
}

/** The path of an ID that was sent as a number that JSON does not keep exactly. */
function inexactId(coerced: unknown, sent: unknown): string[] | undefined {
  // An item may stand for a list.
  if (Array.isArray(coerced) && !Array.isArray(sent)) return inexactId(coerced[0], sent);
  if (typeof sent === 'number')
    return typeof coerced === 'string' && !Number.isSafeInteger(sent) ? [] : undefined;
  // The value of a custom scalar is the one that was sent.
  if (typeof coerced !== 'object' || coerced === null || coerced === sent) return undefined;
  // What was not sent comes from default values, which can contain each other many times.
  for (const [key, value] of Object.entries(sent ?? {})) {
    // Cast: what is coerced to an object is one.
    const path = inexactId((coerced as Record<string, unknown>)[key], value);
    if (path !== undefined) return [key, ...path];
  }
  return undefined;
}

/** Of lists and objects within each other, long before the stack ends. */
const MAX_NESTED = 200;

function requireFewFields(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  variables: Record<string, unknown>,
): void {
  let fields = 0;
  function count(value: unknown, given: GraphQLType | 'any' | undefined, depth = 0): void {
    if (value === undefined || value === null) return;
    const type = given === 'any' ? undefined : getNullableType(given);
    const known = isInputObjectType(type) ? type.getFields() : undefined;
    fields += known ? 1 + Object.keys(known).length : isListType(type) ? 1 : 0;
    if (fields > LIMITS.inputFields)
      fail('OPERATION_TOO_COMPLEX', `the variables have more than ${LIMITS.inputFields} fields`);
    if (depth > MAX_NESTED)
      fail('OPERATION_TOO_COMPLEX', `the variables are nested over ${MAX_NESTED} deep`);
    if (isListType(type)) {
      // An item may stand for a list.
      for (const item of Array.isArray(value) ? value : [value])
        count(item, type.ofType, depth + 1);
      return;
    }
    // graphql-js looks into nothing else, and a subgraph gets whatever a custom scalar has.
    const isCustom = isScalarType(type) && !isSpecifiedScalarType(type);
    const isAny = given === 'any' || isCustom;
    if (typeof value !== 'object' || (known === undefined && !isAny)) return;
    for (const [name, inner] of Object.entries(value))
      count(inner, isAny ? 'any' : known?.[name]?.type, depth + 1);
  }
  for (const { variable, type: node } of definitions) {
    const type = typeFromAST(schema, node);
    if (isInputType(type)) count(variables[variable.name.value], type);
  }
}

/**
 * The path of the first argument that a variable is given to, such as `input.email`. Paths in a
 * list go without the index: the items may be variables of their own.
 */
function argumentPathOf(document: DocumentNode, variable: string): string | undefined {
  const path: string[] = [];
  let found: string | undefined;
  const named = {
    enter: ({ name }: ArgumentNode | ObjectFieldNode) => void path.push(name.value),
    leave: () => void path.pop(),
  };
  visit(document, {
    Argument: named,
    ObjectField: named,
    Variable({ name }) {
      if (name.value !== variable || path.length === 0) return undefined;
      found = path.join('.');
      return BREAK;
    },
  });
  return found;
}

/**
 * Does what graphql-js's getVariableValues does, which quotes whole values in its messages and
 * gives the path of a fault only there.
 */
function coerceEach(
  schema: GraphQLSchema,
  { definitions, document }: VariableRules,
  variables: Record<string, unknown>,
): Record<string, unknown> {
  const errors: GraphQLError[] = [];
  const coerced: [name: string, value: unknown][] = [];
  const refuse = (node: VariableDefinitionNode, problem: string, path: Path = []) => {
    const name = node.variable.name.value;
    const argument = [argumentPathOf(document, name), ...path].join('.');
    const options = { nodes: [node], extensions: { argument } };
    errors.push(new GraphQLError(`Variable "$${name}" ${problem}`, options));
    if (errors.length === MAX_REQUEST_ERRORS)
      throw new GraphqlRequestError('BAD_USER_INPUT', errors);
  };
  for (const node of definitions) {
    const name = node.variable.name.value;
    // Cast: the document has been validated.
    const type = typeFromAST(schema, node.type) as GraphQLInputType;
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined) {
      if (node.defaultValue) coerced.push([name, valueFromAST(node.defaultValue, type)]);
      else if (isNonNullType(type)) refuse(node, `of required type "${type}" was not provided.`);
    } else if (value === null && isNonNullType(type))
      refuse(node, `of non-null type "${type}" must not be null.`);
    else {
      const found = (path: Path, invalid: unknown, { message }: GraphQLError) =>
        refuse(
          node,
          `got invalid value ${excerptOf(invalid)}${placeOf(name, path)}; ${message}`,
          path,
        );
      coerced.push([name, coerceInputValue(value, type, found, hidesSuggestions(schema))]);
    }
  }
  if (errors.length > 0) throw new GraphqlRequestError('BAD_USER_INPUT', errors);
  return Object.fromEntries(coerced);
}

type Path = readonly (string | number)[];

const placeOf = (name: string, path: Path) =>
  path.length === 0 ? '' : ` at "${[name, ...path].join('.')}"`;

/** A value as JSON, short enough that a message has room for its reason. */
function excerptOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[…]' : '{…}';
  const text = String(value);
  return JSON.stringify(text.length <= 80 ? value : `${text.slice(0, 79)}…`);
}

function nonNullVariablesOf(
  document: DocumentNode,
  definitions: readonly VariableDefinitionNode[],
  schema: GraphQLSchema,
): string[] {
  const nullable = definitions
    .filter(({ type }) => type.kind !== Kind.NON_NULL_TYPE)
    .map(({ variable }) => variable.name.value);
  if (nullable.length === 0) return nullable;
  const strict = new Set<string>();
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Variable: ({ name }) =>
        isNonNullType(types.getInputType()) ? void strict.add(name.value) : undefined,
    }),
  );
  return nullable.filter((name) => strict.has(name));
}
