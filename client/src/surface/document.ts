// Builds the document of an operation from its table and a selection.
import { type AnySelection, type Field, fieldOf, namedType, type Schema } from './schema.ts';

/** The service allows 8 levels, the root field included. */
const MAX_DEPTH = 7;

/**
 * The document that calls one root field. All values are variables, so that the text is the same
 * each time, and cached by the service. Throws a TypeError for a selection that the schema does not
 * have: nothing else gets into the text.
 */
export function buildDocument(
  schema: Schema,
  root: 'Query' | 'Mutation',
  name: string,
  variables: Record<string, unknown>,
  selection: AnySelection,
) {
  const field = fieldOf(schema, root, name);
  if (field === undefined) throw new TypeError(`there is no ${root} field ${name}`);
  const declared: string[] = [];
  const given: Record<string, unknown> = {};
  const passed = Object.entries(field.arguments ?? {}).map(([argument, type]) => {
    declared.push(`$${argument}: ${type}`);
    if (variables[argument] !== undefined) given[argument] = variables[argument];
    return `${argument}: $${argument}`;
  });

  /** The fields of a selection, with the arguments in it as variables. */
  const print = (parent: Field, selected: unknown, path: string, depth: number): string => {
    if (typeof selected !== 'object' || selected === null)
      throw new TypeError(`select: ${path} needs a selection of its fields`);
    if (depth > MAX_DEPTH) throw new TypeError(`select: ${path} is nested too deep`);
    const parts = Object.entries(selected).flatMap(([key, value]) => {
      if (key === '$arguments' || value === undefined) return [];
      const inner = fieldOf(schema, namedType(parent.type), key);
      if (inner === undefined) throw new TypeError(`select: ${path} has no field ${quote(key)}`);
      const called = `${key}${printArguments(inner, value)}`;
      if (inner.leaf === undefined)
        return [`${called} ${print(inner, value, `${path}.${key}`, depth + 1)}`];
      if (value !== true) throw new TypeError(`select: ${path}.${key} must be true`);
      return [called];
    });
    if (parts.length === 0) throw new TypeError(`select: ${path} selects nothing`);
    return `{ ${parts.join(' ')} }`;
  };

  const printArguments = (parent: Field, selected: unknown): string => {
    const values = argumentsIn(selected).filter(([, value]) => value !== undefined);
    if (values.length === 0) return '';
    const texts = values.map(([argument, value]) => {
      const type = parent.arguments?.[argument];
      if (type === undefined) throw new TypeError(`select: no argument ${quote(argument)} here`);
      const variable = `${argument}_${declared.length}`;
      declared.push(`$${variable}: ${type}`);
      given[variable] = value;
      return `${argument}: $${variable}`;
    });
    return `(${texts.join(', ')})`;
  };

  const fields = print(field, selection, name, 1);
  const kind = root === 'Query' ? 'query' : 'mutation';
  const list = (texts: string[]) => (texts.length === 0 ? '' : `(${texts.join(', ')})`);
  return {
    query: `${kind} ${name}${list(declared)} { ${name}${list(passed)} ${fields} }`,
    variables: given,
  };
}

function argumentsIn(selected: unknown): [string, unknown][] {
  if (typeof selected !== 'object' || selected === null || !('$arguments' in selected)) return [];
  return Object.entries(selected.$arguments ?? {});
}

const quote = (text: string) => JSON.stringify(text.slice(0, 40));
