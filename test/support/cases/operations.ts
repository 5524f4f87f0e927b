// Generates valid operations for a schema, with aliases, fragments, conditions and variables.
import {
  astFromValue,
  type GraphQLCompositeType,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isListType,
  isObjectType,
  print,
} from 'graphql';

export type GeneratedOperation = { query: string; variables: Record<string, unknown> };

/** A generator of numbers from 0 to 1, exclusive, determined by the seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Generates an operation, determined by the seed. `argument` returns a value for an argument's
 * name.
 */
export function generateOperation(
  schema: GraphQLSchema,
  seed: number,
  argument: (name: string, random: () => number) => unknown,
): GeneratedOperation {
  const random = seeded(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const variables: Record<string, unknown> = {};
  const definitions: string[] = [];
  const fragments: string[] = [];
  let count = 0;

  function condition(): string {
    if (random() > 0.25) return '';
    const directive = pick(['skip', 'include']);
    if (random() < 0.3) return ` @${directive}(if: ${random() < 0.5})`;
    const name = `v${count++}`;
    const withDefault = random() < 0.3;
    definitions.push(`$${name}: Boolean${withDefault ? ` = ${random() < 0.5}` : '!'}`);
    if (!withDefault || random() < 0.5) variables[name] = random() < 0.5;
    return ` @${directive}(if: $${name})`;
  }

  function value(name: string, type: GraphQLInputType): string {
    const given = valueOfEnum(type) ?? argument(name, random);
    if (random() < 0.4) return literal(given, type);
    const variable = `v${count++}`;
    const asDefault = random() < 0.3 && typeof given === 'string';
    definitions.push(`$${variable}: ${type}${asDefault ? ` = ${literal(given, type)}` : ''}`);
    if (!asDefault) variables[variable] = given;
    return `$${variable}`;
  }

  function field(parent: GraphQLObjectType, depth: number): string {
    // Stock Apollo does not know the key of a request.
    const { viewer: _viewer, ...fields } = parent.getFields();
    const definition = pick(Object.values(fields));
    const args = definition.args.map(({ name, type }) => `${name}: ${value(name, type)}`);
    const call = args.length === 0 ? '' : `(${args.join(', ')})`;
    const alias = args.length > 0 || random() < 0.3 ? `a${count++}: ` : '';
    return `${alias}${definition.name}${call}${condition()}${selection(definition.type, depth)}`;
  }

  function selection(type: GraphQLOutputType, depth: number): string {
    const named = getNamedType(type);
    return isCompositeType(named) ? ` { ${selections(named, depth + 1)} }` : '';
  }

  function selections(type: GraphQLCompositeType, depth: number): string {
    const parts = isAbstractType(type) ? ['__typename'] : [];
    const wanted = 1 + Math.floor(random() * 4);
    for (let i = 0; i < wanted; i += 1) parts.push(part(type, depth));
    if (parts.length === 0 || random() < 0.2) parts.push('__typename');
    return parts.join(' ');
  }

  function part(type: GraphQLCompositeType, depth: number): string {
    const object = isObjectType(type) ? type : pick(schema.getPossibleTypes(type));
    const fields =
      depth < 4
        ? Object.values(object.getFields())
        : Object.values(object.getFields()).filter(
            ({ type: of }) => !isCompositeType(getNamedType(of)),
          );
    if (fields.length === 0) return '__typename';
    if (isObjectType(type) && random() < 0.7)
      return depth < 4 ? field(object, depth) : pick(fields).name;
    const inner = depth < 4 ? field(object, depth) : pick(fields).name;
    if (random() < 0.5) return `... on ${object.name}${condition()} { ${inner} }`;
    const name = `F${count++}`;
    fragments.push(`fragment ${name} on ${object.name} { ${inner} }`);
    return `...${name}${condition()}`;
  }

  const query = schema.getQueryType();
  if (!query) throw new Error('a schema has a query type');
  const roots = Array.from({ length: 1 + Math.floor(random() * 4) }, () => field(query, 0));
  const head = definitions.length === 0 ? 'query' : `query (${definitions.join(', ')})`;
  return { query: [`${head} { ${roots.join(' ')} }`, ...fragments].join('\n'), variables };
}

/** The first value of an enum, in a list if the type is one; undefined for other types. */
function valueOfEnum(type: GraphQLInputType): unknown {
  const named = getNamedType(type);
  if (!isEnumType(named)) return undefined;
  const value = named.getValues()[0]?.name;
  return isListType(getNullableType(type)) ? [value] : value;
}

function literal(value: unknown, type: GraphQLInputType): string {
  const node = astFromValue(value, type);
  return node ? print(node) : 'null';
}
