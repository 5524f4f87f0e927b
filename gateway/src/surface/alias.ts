// Keeps the names callers give to fields apart from the names the planner works with.
import {
  type DocumentNode,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
  visit,
} from 'graphql';

// Begins every alias that was changed; one that a caller begins like this is changed too, so that it can be told back.
const GUARD = 'as__';

/** Every name of a field in the graph, hidden ones included: names under which the planner may ask for something on its own account. */
export function fieldNames(supergraph: GraphQLSchema): ReadonlySet<string> {
  const names = new Set<string>();
  for (const type of Object.values(supergraph.getTypeMap())) {
    if (isObjectType(type) || isInterfaceType(type))
      for (const name of Object.keys(type.getFields())) names.add(name);
  }
  return names;
}

/**
 * The document with every alias changed that could be taken for a field: under the alias `memberId` a caller may ask for anything, while the
 * planner reads the key there. `responseName` tells the caller's name again.
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

/** The name that a caller gave, of a name in a guarded document. */
export function responseName(name: string): string {
  return name.startsWith(GUARD) ? name.slice(GUARD.length) : name;
}
