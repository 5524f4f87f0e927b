// Which deprecated parts of a schema an operation uses, found once when it is prepared.
import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
} from 'graphql';
import { coordinatesOf } from '../schema/coordinates.ts';
import type { DeprecationDates } from '../schema/dates.ts';
import type { Deprecations } from '../schema/deprecations.ts';
import { type InputVariable, visitInputFields } from './inputvariables.ts';

export type DeprecatedUse = {
  /** What the document uses, whatever the variables. */
  coordinates: readonly string[];
  /** The earliest of these; undefined if there are none. */
  dates: DeprecationDates | undefined;
  /** Those whose values can use more. */
  variables: readonly InputVariable[];
  /** Everything that is deprecated in the schema. */
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
  const variables = inputVariables.filter(({ type }) => canUse(type, deprecations));
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

/** Whether something deprecated is in a type, or in one that its fields lead to. */
function canUse(type: GraphQLInputType, deprecations: Deprecations): boolean {
  const seen = new Set([getNamedType(type)]);
  for (const each of seen) {
    if (
      isEnumType(each) &&
      each.getValues().some(({ name }) => deprecations.has(`${each.name}.${name}`))
    )
      return true;
    if (!isInputObjectType(each)) continue;
    for (const field of Object.values(each.getFields())) {
      if (deprecations.has(`${each.name}.${field.name}`)) return true;
      seen.add(getNamedType(field.type));
    }
  }
  return false;
}
