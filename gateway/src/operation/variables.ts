// Checks the variables of a request against the definitions of its operation.
import { fail } from '@partner-loyalty/runtime';
import {
  type DocumentNode,
  type GraphQLSchema,
  getVariableValues,
  isNonNullType,
  Kind,
  TypeInfo,
  type VariableDefinitionNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { GraphqlRequestError, MAX_REQUEST_ERRORS } from './requesterror.ts';

export type VariableRules = {
  definitions: readonly VariableDefinitionNode[];
  /**
   * Nullable variables used in places that do not accept null, which their default value allows
   * (GraphQL, section 5.8.5).
   */
  nonNullVariables: readonly string[];
};

/** The rules for the variables of an operation, which is the only one of its document. */
export function variableRulesOf(
  document: DocumentNode,
  definitions: readonly VariableDefinitionNode[] = [],
  schema: GraphQLSchema,
): VariableRules {
  return { definitions, nonNullVariables: nonNullVariablesOf(document, definitions, schema) };
}

/** The variables with their default values. Throws BAD_USER_INPUT if they break the rules. */
export function coerceVariables(
  schema: GraphQLSchema,
  { definitions, nonNullVariables }: VariableRules,
  variables: Record<string, unknown>,
): Record<string, unknown> {
  if (definitions.length === 0) return {};
  const result = getVariableValues(schema, definitions, variables, {
    maxErrors: MAX_REQUEST_ERRORS,
  });
  if (result.errors !== undefined) throw new GraphqlRequestError('BAD_USER_INPUT', result.errors);
  const nullName = nonNullVariables.find((name) => variables[name] === null);
  if (nullName !== undefined)
    fail('BAD_USER_INPUT', `Variable "$${nullName}" is used where null is not allowed.`);
  return result.coerced;
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
