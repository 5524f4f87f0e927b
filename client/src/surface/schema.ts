// The form of the generated tables that describe a surface.

export type Field = {
  /** As the schema has it: `[MemberLookup!]`. */
  type: string;
  /** Its JSON type, if it is not an object. */
  leaf?: 'string' | 'number' | 'boolean';
  /** The types of its arguments by name. */
  arguments?: Record<string, string>;
};

/** The fields of each object type by name. */
export type Schema = {
  Query: Record<string, Field>;
  Mutation: Record<string, Field>;
  [type: string]: Record<string, Field>;
};

/** A field of a type, or undefined. */
export function fieldOf(schema: Schema, type: string, name: string): Field | undefined {
  const fields = Object.hasOwn(schema, type) ? schema[type] : undefined;
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** The name within a type: `MemberLookup` of `[MemberLookup!]`. */
export function namedType(type: string): string {
  return type.replace(/[[\]!]/g, '');
}
