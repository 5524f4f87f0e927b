// Operations on a schema, drawn by fast-check: arguments, variables, directives and fragments.
import fc, { type GeneratorValue } from 'fast-check';
import {
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

export type DrawnOperation = { query: string; variables: Record<string, unknown> };

/** How deep selections and input objects are nested. */
const DEPTH = 2;
/** JSON for a scalar: what fits, and what may not. */
const JSON_VALUES: Record<string, unknown[]> = {
  Int: [0, 1, -7, 2_147_483_647, 1.5, '1'],
  Float: [0, 0.5, -1e21, 3, '0.5'],
  String: ['', 'a', 'toString', '"\\', 1],
  ID: ['', 'i', 7, 1.5],
  Boolean: [true, false, 'true'],
  Money: [0, 12, 'x', null],
  Json: [null, 1, 'a', [1, [null]], { a: { b: [] } }],
};
const LITERALS: Record<string, string[]> = {
  Int: ['0', '1', '-7'],
  Float: ['0', '0.5', '-1e21'],
  String: ['""', '"a"', '"toString"', '"""block"""'],
  ID: ['""', '"i"', '7'],
  Boolean: ['true', 'false'],
  Money: ['0', '12'],
  Json: ['1', '"a"', '[1, [null]]', '{ a: { b: [] } }', 'WORD'],
};

/** Draws an operation. Not all of them are valid, and neither are all variables. */
export function drawOperation(g: GeneratorValue, schema: GraphQLSchema): DrawnOperation {
  const chance = (percent: number) => g(fc.nat, 99) < percent;
  const upTo = (max: number) => g(fc.nat, max);
  // Cast: no list here is empty.
  const oneOf = <T>(items: readonly T[]): T => items[upTo(items.length - 1)] as T;

  const definitions = new Map<string, { type: string; text: string }>();
  const variables: Record<string, unknown> = {};
  const fragments: string[] = [];
  const argumentsByField = new Map<string, string>();
  let aliases = 0;

  function selections(type: GraphQLCompositeType, depth: number): string {
    const count = 1 + upTo(2);
    return `{ ${Array.from({ length: count }, () => selection(type, depth)).join(' ')} }`;
  }

  function selection(type: GraphQLCompositeType, depth: number): string {
    if (chance(12)) return `... ${condition(type)}${directives()} ${inner(type, depth)}`;
    if (chance(10)) return spread(type, depth);
    if (chance(10) || !('getFields' in type)) return `__typename${directives()}`;
    const field = oneOf(Object.values(type.getFields()));
    const named = getNamedType(field.type);
    if (isCompositeType(named) && depth === 0) return '__typename';
    const below = isCompositeType(named) ? ` ${selections(named, depth - 1)}` : '';
    const key = `${type.name}.${field.name}`;
    // Without an alias, the same field has the same arguments: others would conflict.
    if (chance(50)) return `a${aliases++}: ${field.name}${args(field.args)}${directives()}${below}`;
    const known = argumentsByField.get(key) ?? args(field.args);
    argumentsByField.set(key, known);
    return `${field.name}${known}${directives()}${below}`;
  }

  function condition(type: GraphQLCompositeType): string {
    if (chance(30)) return '';
    const abstract = isAbstractType(type)
      ? schema.getPossibleTypes(type)
      : Object.values(schema.getTypeMap()).filter(
          (each) => isAbstractType(each) && isObjectType(type) && schema.isSubType(each, type),
        );
    return `on ${oneOf([type, ...abstract]).name}`;
  }

  function inner(type: GraphQLCompositeType, depth: number): string {
    return depth === 0 ? '{ __typename }' : selections(type, depth - 1);
  }

  function spread(type: GraphQLCompositeType, depth: number): string {
    const known = fragments.findIndex((text) => text.includes(` on ${type.name} `));
    if (known !== -1 && chance(60)) return `...f${known}${directives()}`;
    const body = inner(type, depth);
    const name = `f${fragments.length}`;
    fragments.push(`fragment ${name} on ${type.name} ${body}`);
    return `...${name}${directives()}`;
  }

  function directives(): string {
    if (!chance(15)) return '';
    const type = { type: schema.getDirective('skip')?.args[0]?.type } as GraphQLArgument;
    const text = ` @${oneOf(['skip', 'include'])}(if: ${value(type.type, 0, false)})`;
    return chance(10) && !text.startsWith(' @skip') ? `${text} @skip(if: false)` : text;
  }

  function args(given: readonly GraphQLArgument[]): string {
    const texts = given.flatMap((each) => fieldText(each, DEPTH, true));
    return texts.length === 0 ? '' : `(${texts.join(', ')})`;
  }

  /** An argument or a field of an input object; none if it is left out. */
  function fieldText(
    field: GraphQLArgument | GraphQLInputField,
    depth: number,
    canVary: boolean,
  ): string[] {
    const hasDefault = field.defaultValue !== undefined;
    const isNeeded = isNonNullType(field.type) && !hasDefault;
    if (!isNeeded && (depth <= 0 || chance(40))) return [];
    const text = canVary
      ? value(field.type, depth - 1, hasDefault)
      : literal(field.type, depth - 1, false);
    return [`${field.name}: ${text}`];
  }

  function value(type: GraphQLInputType, depth: number, hasDefault: boolean): string {
    if (chance(40)) return variable(type, hasDefault);
    return literal(type, depth, true);
  }

  function literal(type: GraphQLInputType, depth: number, canVary: boolean): string {
    if (!isNonNullType(type)) return chance(8) ? 'null' : presentLiteral(type, depth, canVary);
    return presentLiteral(type.ofType, depth, canVary);
  }

  function presentLiteral(type: GraphQLInputType, depth: number, canVary: boolean): string {
    const part = (each: GraphQLInputType) =>
      canVary ? value(each, depth - 1, false) : literal(each, depth - 1, false);
    if (isListType(type)) {
      if (chance(20)) return literal(getNullableType(type.ofType), depth, false);
      return `[${Array.from({ length: upTo(2) }, () => part(type.ofType)).join(', ')}]`;
    }
    if (isEnumType(type)) return oneOf(type.getValues()).name;
    if (!isInputObjectType(type)) return oneOf(LITERALS[type.name] ?? ['null']);
    const all = Object.values(type.getFields());
    const fields = type.isOneOf ? [oneOf(all)] : all;
    const texts = fields.flatMap((each) => fieldText(each, depth, canVary));
    return `{ ${texts.join(', ')} }`;
  }

  function variable(type: GraphQLInputType, hasDefault: boolean): string {
    const nullable = isNonNullType(type) ? type.ofType : type;
    const isRequired = isNonNullType(type) ? !chance(hasDefault ? 60 : 25) : chance(15);
    const text = isRequired ? `${nullable}!` : `${nullable}`;
    const known = [...definitions].filter((each) => each[1].type === text);
    if (known.length > 0 && chance(40)) return `$${oneOf(known)[0]}`;
    const name = chance(3) ? oneOf(['toString', 'representations']) : `v${definitions.size}`;
    if (definitions.has(name)) return variable(type, hasDefault);
    const byDefault = chance(isNonNullType(type) && !isRequired && !hasDefault ? 100 : 25);
    const standard = byDefault
      ? ` = ${isRequired ? presentLiteral(nullable, 1, false) : literal(nullable, 1, false)}`
      : '';
    definitions.set(name, { type: text, text: `$${name}: ${text}${standard}` });
    if (!chance(isRequired ? 5 : 35)) variables[name] = json(nullable, 2);
    return `$${name}`;
  }

  function json(type: GraphQLInputType, depth: number): unknown {
    if (isNonNullType(type) && chance(97)) return presentJson(type.ofType, depth);
    return chance(10) ? null : presentJson(getNullableType(type), depth);
  }

  function presentJson(type: GraphQLInputType, depth: number): unknown {
    if (isListType(type)) {
      if (chance(15)) return json(type.ofType, depth);
      return Array.from({ length: upTo(2) }, () => json(type.ofType, depth));
    }
    if (isEnumType(type)) return chance(5) ? 'NONE' : oneOf(type.getValues()).name;
    if (!isInputObjectType(type)) {
      const values = JSON_VALUES[type.name] ?? [null];
      return chance(90) ? values[0] : oneOf(values);
    }
    const fields = Object.values(type.getFields());
    const object: Record<string, unknown> = chance(2) ? { unknown: 1 } : {};
    for (const field of type.isOneOf ? [oneOf(fields)] : fields)
      if (depth > 0 ? chance(60) : isNonNullType(field.type))
        object[field.name] = json(field.type, depth - 1);
    return object;
  }

  const kind = chance(30) ? 'mutation' : 'query';
  const root = kind === 'query' ? schema.getQueryType() : schema.getMutationType();
  if (!root) throw new Error('the schema has both');
  const body = selections(root, DEPTH);
  const declared = [...definitions.values()].map(({ text }) => text);
  const head = declared.length === 0 ? kind : `${kind}(${declared.join(', ')})`;
  return { query: [`${head} ${body}`, ...fragments].join('\n'), variables };
}
