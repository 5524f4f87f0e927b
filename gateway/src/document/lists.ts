// The lists in the arguments of root fields, each of whose items costs 1.
import { type FieldNode, Kind, type OperationDefinitionNode, type TypeNode } from 'graphql';

/** In items, of a list that is an argument of a root field. */
export const MAX_ITEMS = 100;

/** An argument that is a list: a literal, or a variable with the length of its default value. */
type ListArgument = { argument: string; length: number; variable: string | undefined };
/** The arguments of one root field that are, or can be, lists. Never empty. */
export type ListField = readonly ListArgument[];

/** The literals and the variables among a field's arguments; undefined if it has neither. */
export function listFieldOf({ arguments: args = [] }: FieldNode): ListField | undefined {
  const lists = args.flatMap(({ name, value }): ListArgument[] => {
    const argument = name.value;
    if (value.kind === Kind.LIST)
      return [{ argument, length: value.values.length, variable: undefined }];
    return value.kind === Kind.VARIABLE
      ? [{ argument, length: 1, variable: value.name.value }]
      : [];
  });
  return lists.length === 0 ? undefined : lists;
}

/** The fields of an operation that have lists, without variables that are none. */
export function listsOf(
  fields: readonly ListField[],
  { variableDefinitions = [] }: OperationDefinitionNode,
): readonly ListField[] {
  const definitions = new Map(variableDefinitions.map((one) => [one.variable.name.value, one]));
  return fields.flatMap((field) => {
    const kept = field.flatMap((one): ListArgument[] => {
      if (one.variable === undefined) return [one];
      const definition = definitions.get(one.variable);
      if (definition === undefined || !isList(definition.type)) return [];
      const { defaultValue } = definition;
      const length = defaultValue?.kind === Kind.LIST ? defaultValue.values.length : 1;
      return [{ ...one, length }];
    });
    return kept.length === 0 ? [] : [kept];
  });
}

/**
 * What the lists of a request add to the cost of its root fields: of each field, the items of its
 * longest list but the first; and the items of the longest one of all. `tooLong` is the name of an
 * argument whose list is over MAX_ITEMS.
 */
export function costOfLists(
  fields: readonly ListField[],
  variables: Record<string, unknown>,
): { added: number; longest: number; tooLong: string | undefined } {
  let added = 0;
  let longestOfAll = 1;
  for (const field of fields) {
    let longest = 1;
    for (const { argument, length, variable } of field) {
      const given = variable === undefined ? undefined : ownValue(variables, variable);
      const items = given === undefined ? length : Array.isArray(given) ? given.length : 1;
      if (items > MAX_ITEMS) return { added, longest: items, tooLong: argument };
      longest = Math.max(longest, items);
    }
    added += longest - 1;
    longestOfAll = Math.max(longestOfAll, longest);
  }
  return { added, longest: longestOfAll, tooLong: undefined };
}

function isList(type: TypeNode): boolean {
  return type.kind === Kind.NON_NULL_TYPE ? isList(type.type) : type.kind === Kind.LIST_TYPE;
}

function ownValue(variables: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(variables, name) ? variables[name] : undefined;
}
