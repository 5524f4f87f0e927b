// Keeps the aliases that callers choose apart from the field names that the planner relies on.
import {
  type DocumentNode,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
  visit,
} from 'graphql';

// The prefix of changed aliases. A caller's alias with this prefix is changed too, so that removing
// the prefix always restores the original.
const GUARD = 'as__';

/** The names of all fields in the graph, hidden ones included: the planner may add any of them. */
export function fieldNames(supergraph: GraphQLSchema): ReadonlySet<string> {
  const names = new Set<string>();
  for (const type of Object.values(supergraph.getTypeMap())) {
    if (isObjectType(type) || isInterfaceType(type))
      for (const name of Object.keys(type.getFields())) names.add(name);
  }
  return names;
}

/**
 * The document with every alias changed that could be mistaken for a field. A caller may alias any
 * field as `memberId`, but the planner reads the key there. `responseName` undoes the change.
 */
export function guardAliases(document: DocumentNode, fields: ReadonlySet<string>): DocumentNode {
  return visit(document, {
    Field(field) {
      const alias = field.alias?.value;
      if (field.alias === undefined || alias === undefined || alias === field.name.value)
        return undefined;
      if (!fields.has(alias) && !alias.startsWith('__') && !alias.startsWith(GUARD))
        return undefined;
      return { ...field, alias: { ...field.alias, value: `${GUARD}${alias}` } };
    },
  });
}

/** The response name in the caller's document, from that in the guarded one. */
export function responseName(name: string): string {
  return name.startsWith(GUARD) ? name.slice(GUARD.length) : name;
}
