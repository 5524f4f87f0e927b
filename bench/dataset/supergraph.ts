// Supergraphs for the measured service: the committed one, and larger ones.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeServices } from '@apollo/composition';
import { SUPERGRAPH_FILE } from '@partner-loyalty/gateway';
import { parse } from 'graphql';

const FIELDS = 8;

/**
 * A supergraph of the repository's subgraphs and of one more with so many types, which nobody asks:
 * it has no address. Without types, it is the committed supergraph.
 */
export function supergraphWith(types: number, root: string): string {
  if (types === 0) return readFileSync(SUPERGRAPH_FILE, 'utf8');
  const schemas = { members: schemaOf('members', root), standings: schemaOf('standings', root) };
  const services = Object.entries({ ...schemas, catalog: catalog(types) });
  const { supergraphSdl, errors } = composeServices(
    services.map(([name, sdl]) => ({ name, url: `http://${name}/graphql`, typeDefs: parse(sdl) })),
  );
  if (supergraphSdl === undefined) throw new Error(errors?.map(String).join('\n'));
  return supergraphSdl;
}

function schemaOf(name: string, root: string): string {
  return readFileSync(join(root, 'subgraphs', name, 'schema.graphql'), 'utf8');
}

function catalog(types: number): string {
  const numbers = Array.from({ length: types }, (_, number) => number);
  const tag = '@tag(name: "partner")';
  const fields = Array.from({ length: FIELDS }, (_, field) => `field${field}: String ${tag}`);
  const definitions = numbers.map(
    (number) => `"""One of many types."""
      type Item${number} @key(fields: "id") {
        id: ID! ${tag} ${fields.join(' ')} next: Item${(number + 1) % types} ${tag}
      }`,
  );
  const roots = numbers.map((number) => `item${number}(id: ID!): Item${number} ${tag}`);
  return `extend schema
    @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@tag"])
    type Query { ${roots.join(' ')} }
    ${definitions.join('\n')}`;
}
