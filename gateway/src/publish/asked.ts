// Asks a subgraph for its health and its schema before it is published.
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { type DocumentNode, GraphQLError, Kind, parse } from 'graphql';
import { elementsIn } from '../schema/definitions.ts';

const OPERATIONS = { health: '{__typename}', schema: '{_service{sdl}}' };

/** Stock subgraphs add these to their schema. */
const FEDERATION_FIELDS = new Set(['_service', '_entities', '_entities(representations:)']);

/**
 * What keeps a subgraph from serving `sdl`, in a few words; undefined if it is healthy and its
 * schema has every field and argument of `sdl`.
 */
export async function faultOfSubgraph(
  transport: Pick<Transport, 'execute'>,
  sdl: string,
  requestId: string,
): Promise<string | undefined> {
  const ask = (query: string) =>
    transport.execute({ query, caller: { kind: 'service' }, requestId });
  const health = await ask(OPERATIONS.health);
  if (typeof health.data?.__typename !== 'string') return 'does not answer {__typename}';
  const { data } = await ask(OPERATIONS.schema);
  const running = (data?._service as { sdl?: unknown } | null | undefined)?.sdl;
  if (typeof running !== 'string') return 'does not answer {_service{sdl}}';
  try {
    const missing = missingFrom(running, sdl);
    return missing.length === 0 ? undefined : `lacks ${listed(missing)}`;
  } catch (error) {
    if (error instanceof GraphQLError) return 'answers {_service{sdl}} with a syntax error';
    throw error;
  }
}

/** The fields and arguments that `running` lacks. Throws a GraphQLError if either is not SDL. */
export function missingFrom(running: string, sdl: string): string[] {
  const has = coordinatesOf(running);
  return [...coordinatesOf(sdl)].filter((coordinate) => !has.has(coordinate));
}

function coordinatesOf(sdl: string): Set<string> {
  const document = parse(sdl, { noLocation: true });
  const roots = rootNames(document);
  const coordinates = new Set<string>();
  for (const { coordinate, node } of elementsIn(document)) {
    const [type = '', field = ''] = coordinate.split('.');
    if (node.kind !== Kind.ENUM_VALUE_DEFINITION && !FEDERATION_FIELDS.has(field))
      coordinates.add(`${roots.get(type) ?? type}.${field}`);
  }
  return coordinates;
}

/** The usual names of the root types, by their names in the schema. */
function rootNames({ definitions }: DocumentNode): Map<string, string> {
  const usual = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' };
  return new Map(
    definitions
      .filter((node) => node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION)
      .flatMap(({ operationTypes = [] }) =>
        operationTypes.map(({ type, operation }) => [type.name.value, usual[operation]] as const),
      ),
  );
}

const MAX_LISTED = 5;

/** `Query.a, Query.b and 3 more` */
export function listed(coordinates: readonly string[]): string {
  const rest = coordinates.length - MAX_LISTED;
  return coordinates.slice(0, MAX_LISTED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
