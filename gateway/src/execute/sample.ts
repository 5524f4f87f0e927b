// A read of a surface, made from its schema.
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql';

/**
 * A query that selects the first root fields, and of each the first fields that need no arguments,
 * within the limits of an operation.
 */
export function sampleRead(schema: GraphQLSchema): string {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {}).slice(0, MAX_ROOTS);
  const variables = fields.flatMap(({ name, args }) =>
    args.map((each) => `$${name}_${each.name}: ${each.type}`),
  );
  const roots = fields.map((field) => {
    const args = field.args.map((each) => `${each.name}: $${field.name}_${each.name}`);
    return `${field.name}${args.length === 0 ? '' : `(${args.join(' ')})`} ${selectionOf(field, 1)}`;
  });
  return `query${variables.length === 0 ? '' : `(${variables.join(' ')})`} { __typename ${roots.join(' ')} }`;
}

const MAX_ROOTS = 3;
const MAX_FIELDS = 10;
const MAX_DEPTH = 2;

function selectionOf({ type }: GraphQLField<unknown, unknown>, depth: number): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  return `{ __typename ${isObjectType(named) ? fieldsOf(named, depth).join(' ') : ''} }`;
}

function fieldsOf(type: GraphQLObjectType, depth: number): string[] {
  const fields = Object.values(type.getFields()).slice(0, MAX_FIELDS);
  return fields.flatMap((field) => {
    const named = getNamedType(field.type);
    if (field.args.length > 0) return [];
    if (isLeafType(named)) return [field.name];
    return isObjectType(named) && depth < MAX_DEPTH
      ? [`${field.name} ${selectionOf(field, depth + 1)}`]
      : [];
  });
}
