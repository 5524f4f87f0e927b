// Names the fields of an operation for the log: by the schema's names, not by a caller's aliases.
import {
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionNode,
} from 'graphql';

/** So that a line of the log stays short. */
const MAX_NAMES = 5;
/** During an outage, the same few operations fail again and again. */
const MAX_REMEMBERED = 100;

/**
 * The field at the path of an error, without the places in lists. Without a path, the root fields;
 * of entities, the fields that the operation asks for.
 */
export type FieldNames = (query: string, path?: readonly (string | number)[]) => string;

export function createFieldNames(): FieldNames {
  const remembered = new Map<string, string>();
  return (query, path) => {
    const steps = path?.filter((step) => typeof step === 'string');
    const key = `${steps?.join('.') ?? ''} ${query}`;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const roots = rootsOf(query);
    const names = steps === undefined ? namesOf(roots) : nameAt(roots, steps);
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(key, names);
    return names;
  };
}

function namesOf(roots: readonly FieldNode[]): string {
  const names = roots.flatMap((root) =>
    root.name.value === '_entities'
      ? fieldsIn(root.selectionSet?.selections).map((field) => `_entities.${field.name.value}`)
      : [root.name.value],
  );
  return [...new Set(names)].slice(0, MAX_NAMES).join(', ');
}

function nameAt(roots: readonly FieldNode[], steps: readonly string[]): string {
  const names: string[] = [];
  let fields = roots;
  for (const step of steps) {
    const found = fields.filter(({ alias, name }) => (alias ?? name).value === step);
    const [first] = found;
    if (first === undefined) break;
    names.push(first.name.value);
    fields = found.flatMap(({ selectionSet }) => fieldsIn(selectionSet?.selections));
  }
  return names.join('.');
}

function rootsOf(query: string): FieldNode[] {
  try {
    const { definitions } = parse(query, { noLocation: true });
    const isOperation = (node: { kind: Kind }): node is OperationDefinitionNode =>
      node.kind === Kind.OPERATION_DEFINITION;
    return fieldsIn(definitions.find(isOperation)?.selectionSet.selections);
  } catch {
    return [];
  }
}

/** Leaves out the fields of named fragments, which plans hardly ever have. */
function fieldsIn(selections: readonly SelectionNode[] = []): FieldNode[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    return selection.kind === Kind.INLINE_FRAGMENT
      ? fieldsIn(selection.selectionSet.selections)
      : [];
  });
}
