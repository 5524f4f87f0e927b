// The variables of an operation that are input objects, and which of their fields a request gives.
import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isInputType,
  isListType,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';

/** A variable that is an input object, or a list of these. */
export type InputVariable = { name: string; type: GraphQLInputType };

export function inputVariablesOf(
  definitions: readonly VariableDefinitionNode[],
  schema: GraphQLSchema,
): InputVariable[] {
  return definitions.flatMap(({ variable, type: node }) => {
    const type = typeFromAST(schema, node);
    return isInputType(type) && isInputObjectType(getNamedType(type))
      ? [{ name: variable.name.value, type }]
      : [];
  });
}

/** Calls `use` with the coordinate of each field that a value of an input type gives. */
export function visitInputFields(
  value: unknown,
  type: GraphQLInputType,
  use: (coordinate: string) => void,
): void {
  const nullable = getNullableType(type);
  if (typeof value !== 'object' || value === null) return;
  if (isListType(nullable)) {
    for (const item of Array.isArray(value) ? value : [value])
      visitInputFields(item, nullable.ofType, use);
    return;
  }
  if (!isInputObjectType(nullable)) return;
  const fields = nullable.getFields();
  for (const [name, given] of Object.entries(value)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined || given === undefined) continue;
    use(`${nullable.name}.${name}`);
    visitInputFields(given, field.type, use);
  }
}
