// What is deprecated in a schema, with the dates of each deprecation.
import {
  type DocumentNode,
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

export type Deprecation = DeprecationDates & { reason: string };

/** By schema coordinate: `Type.field`, `Type.field(argument:)`, `Input.field`, `Enum.VALUE`. */
export type Deprecations = ReadonlyMap<string, Deprecation>;

/** Those that have dates, as all do in a graph that is served. */
export function deprecationsOf(schema: GraphQLSchema): Deprecations {
  const found = new Map<string, Deprecation>();
  for (const { coordinate, reason } of elementsOf(schema)) {
    const dates = reason && datesIn(reason);
    if (reason && dates) found.set(coordinate, { ...dates, reason });
  }
  return found;
}

export type Element = { coordinate: string; reason: string | null | undefined };

/** Everything in a schema that can be deprecated, with the reason of what is. */
export function* elementsOf(schema: GraphQLSchema): Generator<Element> {
  for (const type of Object.values(schema.getTypeMap())) {
    const { name } = type;
    if (name.startsWith('__')) continue;
    if (isEnumType(type))
      for (const value of type.getValues())
        yield { coordinate: `${name}.${value.name}`, reason: value.deprecationReason };
    if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type))
      for (const field of Object.values(type.getFields())) yield* elementsOfField(name, field);
  }
}

function* elementsOfField(
  typeName: string,
  field: GraphQLField<unknown, unknown> | GraphQLInputField,
): Generator<Element> {
  const coordinate = `${typeName}.${field.name}`;
  yield { coordinate, reason: field.deprecationReason };
  if (!('args' in field)) return;
  for (const { name, deprecationReason } of field.args)
    yield { coordinate: `${coordinate}(${name}:)`, reason: deprecationReason };
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
