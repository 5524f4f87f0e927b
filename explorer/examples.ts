// The operations that the explorer offers to begin with: the examples of the reference.
import { type GraphQLSchema, parse, validate } from 'graphql';
import { type Example, examplesIn } from '../extensions/site/src/docs/example.ts';
import text from '../extensions/site/src/docs/examples.graphql';

export type { Example };

const OPERATIONS = examplesIn(text).filter(({ field }) => field !== 'error');

const GROUPS = [
  { title: 'Queries with a key', surface: 'partner', kind: 'query' },
  { title: 'Mutations with a key', surface: 'partner', kind: 'mutation' },
  { title: 'Queries with a token', surface: 'member', kind: 'query' },
  { title: 'Mutations with a token', surface: 'member', kind: 'mutation' },
] as const;

/** The examples of both surfaces. */
export const ALL_EXAMPLES = grouped(OPERATIONS);

/** The examples that fit the schema of a surface, with the member's own ID in place of theirs. */
export function examplesFor(
  surface: Example['surface'],
  schema: GraphQLSchema,
  memberId: string | undefined,
) {
  const fitting = OPERATIONS.filter(
    (each) => each.surface === surface && validate(schema, parse(each.query)).length === 0,
  );
  return grouped(
    fitting.map(({ variables, ...example }) => ({
      ...example,
      variables:
        memberId !== undefined && 'id' in variables ? { ...variables, id: memberId } : variables,
    })),
  );
}

function grouped(examples: readonly Example[]) {
  return GROUPS.map(({ title, surface, kind }) => ({
    title,
    examples: examples.filter(
      (each) => each.surface === surface && each.query.startsWith(`${kind} `),
    ),
  })).filter((group) => group.examples.length > 0);
}
