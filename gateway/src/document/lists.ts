// What the lists and pages that root fields ask for cost.
import {
  type FieldNode,
  type GraphQLArgument,
  GraphQLInt,
  type GraphQLSchema,
  getNullableType,
  isListType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type TypeNode,
  type ValueNode,
} from 'graphql';

/** In items, of a list that is an argument of a root field. */
export const MAX_ITEMS = 100;
/** So many entries of a list or a page cost 1. */
const ENTRIES_OF_COST = 10;
/** The argument that says how long a page is. */
const PAGE_ARGUMENT = 'first';

/** An argument that is a list: a literal, or a variable with the length of its default value. */
type ListArgument = { argument: string; length: number; variable: string | undefined };

/** A root field, with its arguments that are, or can be, lists. */
export type RootField = {
  name: string;
  responseKey: string;
  lists: readonly ListArgument[];
  /** The argument `first`: a literal, or a variable with its default value. */
  page: { length: number | undefined; variable: string | undefined } | undefined;
};

/**
 * The length of a page if its caller names none, by the kind of operation and the name of its root
 * field that has pages.
 */
export type DefaultPages = Readonly<Record<OperationTypeNode, ReadonlyMap<string, number>>>;

/** The root fields of a schema that have pages: they take an Int as PAGE_ARGUMENT. */
export function defaultPagesOf(schema: GraphQLSchema): DefaultPages {
  function pagesOf(kind: OperationTypeNode) {
    const pages = new Map<string, number>();
    for (const field of Object.values(schema.getRootType(kind)?.getFields() ?? {}))
      for (const one of field.args)
        if (isPage(one)) pages.set(field.name, Number(one.defaultValue ?? 1));
    return pages;
  }
  const { QUERY, MUTATION, SUBSCRIPTION } = OperationTypeNode;
  return {
    query: pagesOf(QUERY),
    mutation: pagesOf(MUTATION),
    subscription: pagesOf(SUBSCRIPTION),
  };
}

type Argument = Pick<GraphQLArgument, 'name' | 'type' | 'defaultValue'>;

function isPage({ name, type }: Argument): boolean {
  return name === PAGE_ARGUMENT && getNullableType(type) === GraphQLInt;
}

/** What a root field with these arguments costs, for readers, with their names as code. */
export function costText(args: readonly Argument[]): string {
  const page = args.find(isPage);
  const lists = args.filter((one) => one === page || isListType(getNullableType(one.type)));
  if (lists.length === 0) return '1';
  const names = lists.map(({ name }) => `\`${name}\``).join(' or ');
  const usual = page ? `, so ${costOfEntries(Number(page.defaultValue ?? 1))} by default` : '';
  return `1 for every ${ENTRIES_OF_COST} of ${names}${usual}`;
}

function costOfEntries(entries: number): number {
  return Math.max(1, Math.ceil(entries / ENTRIES_OF_COST));
}

export function rootFieldOf({ alias, name, arguments: args = [] }: FieldNode): RootField {
  const lists: ListArgument[] = [];
  let page: RootField['page'];
  for (const { name: argument, value } of args) {
    const variable = value.kind === Kind.VARIABLE ? value.name.value : undefined;
    if (argument.value === PAGE_ARGUMENT) page = { length: integerIn(value), variable };
    if (value.kind === Kind.LIST)
      lists.push({ argument: argument.value, length: value.values.length, variable });
    else if (variable !== undefined) lists.push({ argument: argument.value, length: 1, variable });
  }
  return { name: name.value, responseKey: (alias ?? name).value, lists, page };
}

/** The root fields with their variables' default values, without variables that are no lists. */
export function withVariables(
  fields: readonly RootField[],
  { variableDefinitions = [] }: OperationDefinitionNode,
): readonly RootField[] {
  const definitions = new Map(variableDefinitions.map((one) => [one.variable.name.value, one]));
  return fields.map(({ lists, page, ...field }) => ({
    ...field,
    lists: lists.flatMap((one): ListArgument[] => {
      if (one.variable === undefined) return [one];
      const definition = definitions.get(one.variable);
      if (definition === undefined || !isList(definition.type)) return [];
      const { defaultValue } = definition;
      const length = defaultValue?.kind === Kind.LIST ? defaultValue.values.length : 1;
      return [{ ...one, length }];
    }),
    page:
      page?.variable === undefined
        ? page
        : { ...page, length: integerIn(definitions.get(page.variable)?.defaultValue) },
  }));
}

export type CostOfFields = {
  /** In root fields; at least 1. */
  cost: number;
  /** The most entries of a list among them, or of a page whose length is not in the request. */
  longest: number;
  /** The name of an argument whose list is over MAX_ITEMS. */
  tooLong: string | undefined;
};

/**
 * What the root fields of an operation cost (docs/callers/limits.md, Budget): each 1 for
 * ENTRIES_OF_COST entries of its longest list or its page, and at least 1.
 */
export function costOfFields(
  { rootFields, node }: { rootFields: readonly RootField[]; node: OperationDefinitionNode },
  variables: Record<string, unknown>,
  defaultPages: DefaultPages,
): CostOfFields {
  const pages = defaultPages[node.operation];
  let cost = 0;
  let longestOfAll = 1;
  for (const { name, lists, page } of rootFields) {
    const defaultPage = pages.get(name) ?? 1;
    const asked = pages.has(name) ? lengthOf(page, variables) : undefined;
    let longest = asked === undefined ? defaultPage : 1;
    for (const { argument, length, variable } of lists) {
      const given = variable === undefined ? undefined : ownValue(variables, variable);
      const items = given === undefined ? length : Array.isArray(given) ? given.length : 1;
      if (items > MAX_ITEMS) return { cost: 1, longest: items, tooLong: argument };
      longest = Math.max(longest, items);
    }
    cost += costOfEntries(Math.max(longest, asked ?? 1));
    longestOfAll = Math.max(longestOfAll, longest);
  }
  return { cost: Math.max(1, cost), longest: longestOfAll, tooLong: undefined };
}

function lengthOf(page: RootField['page'], variables: Record<string, unknown>): number | undefined {
  if (page === undefined) return undefined;
  const given = page.variable === undefined ? undefined : ownValue(variables, page.variable);
  if (given === undefined) return page.length;
  return typeof given === 'number' ? given : undefined;
}

function integerIn(value: ValueNode | undefined): number | undefined {
  return value?.kind === Kind.INT ? Number(value.value) : undefined;
}

function isList(type: TypeNode): boolean {
  return type.kind === Kind.NON_NULL_TYPE ? isList(type.type) : type.kind === Kind.LIST_TYPE;
}

function ownValue(variables: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(variables, name) ? variables[name] : undefined;
}
