// Which schema coordinates an operation has to use for a change to affect it.
import {
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';

/**
 * The coordinates of `before` that a change at `path` affects, in the form that usage is counted
 * in. A change of a whole type, or of a part that is not counted, affects whatever leads to the
 * type.
 */
export function affectedCoordinates(
  path: string,
  before: GraphQLSchema,
  after: GraphQLSchema,
): string[] {
  const [typeName = '', member = '', argument] = path
    .split('.')
    .filter((part) => !part.startsWith('@'));
  const type = before.getType(typeName);
  if (type === undefined) return [];
  if (isObjectType(type) || isInterfaceType(type)) {
    const field = type.getFields()[member];
    if (field === undefined) return usesOf(type, before);
    const known = field.args.find(({ name }) => name === argument);
    const now = fieldOf(after, typeName, member)?.args.find(({ name }) => name === argument);
    // If the argument is required now, operations without it fail.
    const concernsField = known === undefined || becameRequired(known, now, isRequiredArgument);
    const coordinate = `${typeName}.${member}`;
    return [concernsField ? coordinate : `${coordinate}(${known.name}:)`];
  }
  if (isInputObjectType(type)) {
    const known = type.getFields()[member];
    const now = inputFieldOf(after, typeName, member);
    if (known !== undefined && !becameRequired(known, now, isRequiredInputField))
      return [`${typeName}.${member}`];
  }
  return usesOf(type, before);
}

function becameRequired<T extends GraphQLArgument | GraphQLInputField>(
  before: T,
  after: T | undefined,
  isRequired: (value: T) => boolean,
): boolean {
  return after !== undefined && isRequired(after) && !isRequired(before);
}

function fieldOf(schema: GraphQLSchema, typeName: string, name: string) {
  const type = schema.getType(typeName);
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
}

function inputFieldOf(schema: GraphQLSchema, typeName: string, name: string) {
  const type = schema.getType(typeName);
  return isInputObjectType(type) ? type.getFields()[name] : undefined;
}

/** The fields of a type, and the fields and arguments that have it as their type. */
function usesOf(type: GraphQLNamedType, schema: GraphQLSchema): string[] {
  return Object.values(schema.getTypeMap())
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap((owner) => {
      const isOwn = owner === type;
      const has = (value: { type: Parameters<typeof getNamedType>[0] }) =>
        isOwn || getNamedType(value.type) === type;
      if (isInputObjectType(owner))
        return Object.values(owner.getFields())
          .filter(has)
          .map(({ name }) => `${owner.name}.${name}`);
      if (!isObjectType(owner) && !isInterfaceType(owner)) return [];
      return Object.values(owner.getFields()).flatMap((field) => {
        const coordinate = `${owner.name}.${field.name}`;
        const args = field.args.filter((arg) => getNamedType(arg.type) === type);
        return [
          ...(has(field) ? [coordinate] : []),
          ...args.map(({ name }) => `${coordinate}(${name}:)`),
        ];
      });
    });
}
