// Orders the keys of a supergraph's types, to work around a bug in Apollo's planner.
import {
  type ConstDirectiveNode,
  type DocumentNode,
  Kind,
  type TypeDefinitionNode,
  visit,
} from 'graphql';

/**
 * A supergraph in which the resolvable keys come first. To return to a subgraph with the
 * fields that it requires, the planner takes the first key of the type there, even if it is not
 * resolvable. The order has no other meaning.
 */
export function resolvableKeysFirst(supergraph: DocumentNode): DocumentNode {
  const order = <Node extends TypeDefinitionNode>(type: Node): Node => {
    const { directives = [] } = type;
    const isLast = directives.map(isUnresolvableKey);
    if (!isLast.includes(true)) return type;
    const first = directives.filter((_, index) => !isLast[index]);
    return { ...type, directives: [...first, ...directives.filter((_, index) => isLast[index])] };
  };
  return visit(supergraph, {
    ObjectTypeDefinition: order,
    InterfaceTypeDefinition: order,
  });
}

function isUnresolvableKey({ name, arguments: args = [] }: ConstDirectiveNode): boolean {
  return (
    name.value === 'join__type' &&
    args.some(
      (each) =>
        each.name.value === 'resolvable' && each.value.kind === Kind.BOOLEAN && !each.value.value,
    )
  );
}
