// The variables of an operation that are input objects or enums, and what a request gives in them.
import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';

/** A variable that is an input object, an enum, or a list of these. */
export type InputVariable = { name: string; type: GraphQLInputType };

export function inputVariablesOf(
  definitions: readonly VariableDefinitionNode[],
  schema: GraphQLSchema,
): InputVariable[] {
  return definitions.flatMap(({ variable, type: node }) => {
    const type = typeFromAST(schema, node);
    if (!isInputType(type)) return [];
    const named = getNamedType(type);
    return isInputObjectType(named) || isEnumType(named)
      ? [{ name: variable.name.value, type }]
      : [];
  });
}

/** Calls `use` with the coordinate of each field and enum value in a value of an input type. */
export function visitInputFields(
  value: unknown,
  type: GraphQLInputType,
  use: (coordinate: string) => void,
): void {
  const nullable = getNullableType(type);
  if (isEnumType(nullable)) {
    if (typeof value === 'string' && nullable.getValue(value)) use(`${nullable.name}.${value}`);
    return;
  }
  if (isListType(nullable)) {
    for (const item of Array.isArray(value) ? value : [value])
      visitInputFields(item, nullable.ofType, use);
    return;
  }
  if (!isInputObjectType(nullable) || typeof value !== 'object' || value === null) return;
  const fields = nullable.getFields();
  for (const [name, given] of Object.entries(value)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined || given === undefined) continue;
    use(`${nullable.name}.${name}`);
    visitInputFields(given, field.type, use);
  }
}
