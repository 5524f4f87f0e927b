// Compares the schema that a subgraph has with the one that is to be published.
import { elementsIn } from '@partner-loyalty/gateway/schema/definitions.ts';
import { type DocumentNode, Kind, parse } from 'graphql';

/** Stock subgraphs add these to their schema. */
const FEDERATION_FIELDS = new Set(['_service', '_entities', '_entities(representations:)']);

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

/** The first `most` names: `Query.a, Query.b and 3 more`. */
export function listed(names: readonly string[], most = 5): string {
  const rest = names.length - most;
  return names.slice(0, most).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
