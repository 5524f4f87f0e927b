// The resolvers that a subgraph must have, computed from its generated types, so that the compiler finds a forgotten one.

/**
 * `Resolvers` as graphql-codegen generates them, where all are optional, with those required that GraphQL's default resolver
 * cannot replace: for root fields, for references to entities, and for each field that the objects of its type lack or hold as
 * another type. `Types` are the objects of each type (graphql-codegen's `ResolversTypes`).
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
  Omit<NonNullable<Resolvers[Type]>, CarriedFields<NonNullable<Resolvers[Type]>, Types, Type>>
>;

/** The fields that the objects of a type carry themselves, as the types that the schema gives them. */
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
