// What is deprecated in a schema, with the dates of each deprecation.
import {
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLEnumValue,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type DeprecationDates, datesIn } from './dates.ts';

type Deprecation = DeprecationDates & { reason: string };

/** By schema coordinate: `Type.field`, `Type.field(argument:)`, `Input.field`, `Enum.VALUE`. */
export type Deprecations = ReadonlyMap<string, Deprecation>;

/** The deprecations that have dates, as all do in a graph that is served. */
export function deprecationsOf(schema: GraphQLSchema): Deprecations {
  const found = new Map<string, Deprecation>();
  for (const [coordinate, { deprecationReason: reason }] of elementsOf(schema)) {
    const dates = reason && datesIn(reason);
    if (reason && dates) found.set(coordinate, { ...dates, reason });
  }
  return found;
}

export type Element =
  | GraphQLField<unknown, unknown>
  | GraphQLArgument
  | GraphQLInputField
  | GraphQLEnumValue;

/** Everything in a schema that can be deprecated, by its coordinate. */
export function elementsOf(schema: GraphQLSchema): ReadonlyMap<string, Element> {
  const found = new Map<string, Element>();
  for (const type of Object.values(schema.getTypeMap())) {
    const { name } = type;
    if (name.startsWith('__')) continue;
    if (isEnumType(type))
      for (const value of type.getValues()) found.set(`${name}.${value.name}`, value);
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const coordinate = `${name}.${field.name}`;
      found.set(coordinate, field);
      for (const argument of 'args' in field ? field.args : [])
        found.set(`${coordinate}(${argument.name}:)`, argument);
    }
  }
  return found;
}

/**
 * The coordinates of a validated document, each once: `Type.field`, `Type.field(argument:)`,
 * `Input.field` and `Enum.VALUE`. What only the value of a variable has is not in the document.
 */
export function coordinatesOf(document: DocumentNode, schema: GraphQLSchema): string[] {
  const found = new Set<string>();
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Field: ({ name, arguments: args = [] }) => {
        const parent = types.getParentType();
        if (!parent || name.value.startsWith('__')) return;
        const field = `${parent.name}.${name.value}`;
        found.add(field);
        for (const argument of args) found.add(`${field}(${argument.name.value}:)`);
      },
      ObjectField: ({ name }) => {
        const parent = types.getParentInputType();
        const named = parent && getNamedType(parent);
        if (isInputObjectType(named)) found.add(`${named.name}.${name.value}`);
      },
      EnumValue: (node) => {
        const type = types.getInputType();
        const named = type && getNamedType(type);
        if (isEnumType(named)) found.add(`${named.name}.${node.value}`);
      },
    }),
  );
  return [...found];
}
