// The generated tables that describe a surface, and whether a value fits them.

export type Field = {
  /** The type in GraphQL notation, such as `[MemberLookup!]`. */
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

/** A selection as the generated types have it. */
export type AnySelection = { readonly [field: string]: unknown };

/** A field of a type, or undefined. */
export function fieldOf(schema: Schema, type: string, name: string): Field | undefined {
  const fields = Object.hasOwn(schema, type) ? schema[type] : undefined;
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** The name within a type: `MemberLookup` of `[MemberLookup!]`. */
export function namedType(type: string): string {
  return type.replace(/[[\]!]/g, '');
}

/** The path at which a value breaks its type, such as `member.points`; undefined if it fits. */
export function misfit(
  schema: Schema,
  { type, leaf }: Field,
  selection: AnySelection,
  value: unknown,
  path: string,
): string | undefined {
  return misfitIn(type, value, path, (inner, at) => {
    if (leaf !== undefined) return typeof inner === leaf ? undefined : at;
    if (typeof inner !== 'object' || inner === null) return at;
    for (const [name, selected] of Object.entries(selection)) {
      const child = fieldOf(schema, namedType(type), name);
      if (child === undefined || selected === undefined) continue;
      // Casts: an object of JSON; and what is selected of it, which buildDocument has checked.
      const field = (inner as Record<string, unknown>)[name];
      const found = misfit(schema, child, selected as AnySelection, field, `${at}.${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  });
}

/** Unwraps `!` and lists. */
function misfitIn(
  type: string,
  value: unknown,
  path: string,
  check: (value: unknown, path: string) => string | undefined,
): string | undefined {
  const required = type.endsWith('!');
  if (value === null) return required ? path : undefined;
  const nullable = required ? type.slice(0, -1) : type;
  if (!nullable.startsWith('[')) return check(value, path);
  if (!Array.isArray(value)) return path;
  for (const [index, item] of value.entries()) {
    const found = misfitIn(nullable.slice(1, -1), item, `${path}.${index}`, check);
    if (found !== undefined) return found;
  }
  return undefined;
}
