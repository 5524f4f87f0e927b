// Which parts of a schema an operation uses, as schema coordinates.
import {
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

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
