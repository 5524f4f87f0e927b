// The type of a subgraph's complete resolvers, and the scalar DateTime.

import { GraphQLScalarType } from 'graphql';

/**
 * graphql-codegen generates `Resolvers` with every resolver optional. This type requires those that
 * GraphQL's default resolver cannot replace: for root fields, for references to entities, and for
 * each field that the objects of its type lack or have with another type. `Types` are the objects
 * of each type (graphql-codegen's `ResolversTypes`).
 */
export type CompleteResolvers<Resolvers, Types> = Resolvers & {
  [Type in IncompleteTypes<Resolvers, Types>]: RequiredFields<Resolvers, Types, Type>;
};

/** The types with at least one required resolver. */
type IncompleteTypes<Resolvers, Types> = {
  [Type in keyof Resolvers]-?: [keyof RequiredFields<Resolvers, Types, Type>] extends [never]
    ? never
    : Type;
}[keyof Resolvers];

type RequiredFields<Resolvers, Types, Type extends keyof Resolvers> = Required<
  Omit<
    NonNullable<Resolvers[Type]>,
    // The interface of a type resolves it.
    CarriedFields<NonNullable<Resolvers[Type]>, Types, Type> | '__isTypeOf'
  >
>;

/** The fields that the objects of a type have, with the type that the schema declares. */
type CarriedFields<Fields, Types, Type> = Type extends keyof Types
  ? {
      [Field in keyof Fields]-?: Field extends keyof Awaited<Types[Type]>
        ? Awaited<Types[Type]>[Field] extends ResultOf<Fields[Field]>
          ? Field
          : never
        : never;
    }[keyof Fields]
  : never;

type ResultOf<Resolver> =
  NonNullable<Resolver> extends (...args: never[]) => infer Result ? Result : never;

/**
 * Responses have milliseconds. Arguments are not checked here, since an error would not name the
 * argument: a resolver gets what the caller sent.
 */
export const DATE_TIME = new GraphQLScalarType<unknown, string>({
  name: 'DateTime',
  serialize(value) {
    if (!(value instanceof Date)) throw new TypeError('a DateTime is a Date');
    return value.toISOString();
  },
});
