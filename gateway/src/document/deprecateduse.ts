// Which deprecated parts of a schema an operation uses, by its document and its variables.
import {
  type DocumentNode,
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
import type { DeprecationDates } from '../schema/dates.ts';
import type { Deprecations } from '../schema/deprecations.ts';
import { coordinatesOf } from '../schema/deprecations.ts';

export type DeprecatedUse = {
  /** What the document uses, whatever the variables. */
  coordinates: readonly string[];
  /** The earliest of these; undefined if there are none. */
  dates: DeprecationDates | undefined;
  /** The variables whose values can use more. */
  variables: readonly InputVariable[];
  deprecations: Deprecations;
};

/** Undefined if the operation uses nothing deprecated and no variable can. */
export function deprecatedUse(
  document: DocumentNode,
  inputVariables: readonly InputVariable[],
  schema: GraphQLSchema,
  deprecations: Deprecations,
): DeprecatedUse | undefined {
  if (deprecations.size === 0) return undefined;
  const coordinates = coordinatesOf(document, schema).filter((each) => deprecations.has(each));
  const types = known.get(deprecations) ?? typesWithUse(schema, deprecations);
  known.set(deprecations, types);
  const variables = inputVariables.filter(({ type }) => types.has(getNamedType(type).name));
  if (coordinates.length === 0 && variables.length === 0) return undefined;
  let dates: DeprecationDates | undefined;
  for (const coordinate of coordinates) dates = earliest(dates, deprecations.get(coordinate));
  return { coordinates, dates, variables, deprecations };
}

/** The earliest dates of what a request uses; undefined if it uses nothing deprecated. */
export function datesOfUse(
  { dates, variables, deprecations }: DeprecatedUse,
  values: Record<string, unknown>,
): DeprecationDates | undefined {
  let found = dates;
  for (const { name, type } of variables)
    visitInputFields(values[name], type, (coordinate) => {
      found = earliest(found, deprecations.get(coordinate));
    });
  return found;
}

function earliest(
  one: DeprecationDates | undefined,
  other: DeprecationDates | undefined,
): DeprecationDates | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { since: Math.min(one.since, other.since), until: Math.min(one.until, other.until) };
}

/** Large schemas take long. */
const known = new WeakMap<Deprecations, ReadonlySet<string>>();

/** The types that something deprecated is in, or in one that their fields lead to. */
function typesWithUse(schema: GraphQLSchema, deprecations: Deprecations): ReadonlySet<string> {
  const found = new Set(Array.from(deprecations.keys(), (each) => each.replace(/\..*/, '')));
  const leadingTo = new Map<string, Set<string>>();
  for (const type of Object.values(schema.getTypeMap()).filter(isInputObjectType))
    for (const field of Object.values(type.getFields())) {
      const { name } = getNamedType(field.type);
      leadingTo.set(name, (leadingTo.get(name) ?? new Set()).add(type.name));
    }
  for (const name of found) for (const type of leadingTo.get(name) ?? []) found.add(type);
  return found;
}

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
