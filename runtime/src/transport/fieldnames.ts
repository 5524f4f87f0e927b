// Names the fields of an operation for the log: by the schema's names, not by a caller's aliases.
import { type DocumentNode, type FieldNode, Kind, parse, type SelectionSetNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { fragmentsOf } from '../cache/document.ts';

/** Keeps a line of the log short. */
const MAX_NAMES = 5;
/** During an outage, the same few operations fail again and again. */
const MAX_REMEMBERED = 100;

/**
 * The field at the path of an error, without list indexes. Without a path, the root fields, or for
 * entities, the fields that the operation asks for.
 */
export type FieldNames = (query: string, path?: readonly (string | number)[]) => string;

export function createFieldNames(): FieldNames {
  const remembered = new LRUCache<string, string>({ max: MAX_REMEMBERED });
  return (query, path) => {
    const steps = path?.filter((step) => typeof step === 'string');
    const key = `${steps?.join('.') ?? ''} ${query}`;
    const names = remembered.get(key) ?? namesIn(query, steps);
    remembered.set(key, names);
    return names;
  };
}

function namesIn(query: string, steps: readonly string[] | undefined): string {
  let document: DocumentNode;
  try {
    document = parse(query, { noLocation: true });
  } catch {
    return '';
  }
  const fieldsOf = createFields(document);
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  const roots = fieldsOf(operation?.selectionSet);
  return steps === undefined ? all(roots, fieldsOf) : at(roots, steps, fieldsOf);
}

type Fields = (set: SelectionSetNode | undefined) => FieldNode[];

function all(roots: readonly FieldNode[], fieldsOf: Fields): string {
  const names = roots.flatMap(({ name: { value: name }, selectionSet }) =>
    name === '_entities'
      ? fieldsOf(selectionSet).map((field) => `${name}.${field.name.value}`)
      : [name],
  );
  return [...new Set(names)].slice(0, MAX_NAMES).join(', ');
}

function at(roots: readonly FieldNode[], steps: readonly string[], fieldsOf: Fields): string {
  const names: string[] = [];
  let fields = roots;
  for (const step of steps) {
    const found = fields.filter(({ alias, name }) => (alias ?? name).value === step);
    const [first] = found;
    if (first === undefined) break;
    names.push(first.name.value);
    fields = found.flatMap(({ selectionSet }) => fieldsOf(selectionSet));
  }
  return names.join('.');
}

/** Returns a function that finds the fields of a selection set, those of its fragments included. */
function createFields(document: DocumentNode): Fields {
  const fragments = fragmentsOf(document);

  function collect(
    set: SelectionSetNode | undefined,
    seen: Set<SelectionSetNode>,
    fields: FieldNode[],
  ): FieldNode[] {
    if (set === undefined || seen.has(set)) return fields;
    seen.add(set);
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) fields.push(selection);
      else if (selection.kind === Kind.INLINE_FRAGMENT)
        collect(selection.selectionSet, seen, fields);
      else collect(fragments.get(selection.name.value)?.selectionSet, seen, fields);
    }
    return fields;
  }

  return (set) => collect(set, new Set(), []);
}
