// Composes the supergraph from supergraph.yaml, in the format of Apollo's rover, offline.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { composeServices } from '@apollo/composition';
import { type ASTNode, type DirectiveNode, Kind, parse, visit } from 'graphql';
import { parse as parseYaml } from 'yaml';
import { SURFACES } from '../planning/contract.ts';

type SupergraphConfig = {
  subgraphs: Record<string, { routing_url: string; schema: { file: string } }>;
};

/**
 * The supergraph SDL, tags included, of the subgraphs in `configFile`. Throws an error that lists
 * every fault: schemas that do not compose, tags that name no surface or are not on fields. Throws
 * the system's error if a file cannot be read.
 */
export function compose(configFile: string): string {
  const config: SupergraphConfig = parseYaml(readFileSync(configFile, 'utf8'));
  const services = Object.entries(config.subgraphs).map(([name, { routing_url, schema }]) => ({
    name,
    url: routing_url,
    typeDefs: parse(readFileSync(join(dirname(configFile), schema.file), 'utf8')),
  }));
  const faults = services.flatMap(({ name, typeDefs }) =>
    misplacedTags(typeDefs).map((fault) => `${name}: ${fault}`),
  );
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const { supergraphSdl, errors } = composeServices(services);
  if (errors !== undefined || supergraphSdl === undefined)
    throw new Error(errors?.map((error) => error.message).join('\n'));
  return `${supergraphSdl.trimEnd()}\n`;
}

// A misspelt tag would silently hide a field, and a tag on a type would show the fields that other
// subgraphs add to it.
function misplacedTags(typeDefs: ReturnType<typeof parse>): string[] {
  const faults: string[] = [];
  visit(typeDefs, {
    Directive(tag, _key, _parent, _path, ancestors) {
      if (tag.name.value !== 'tag') return;
      const owner = ancestors.findLast((node): node is ASTNode => 'kind' in node);
      const place =
        owner !== undefined && 'name' in owner && owner.name !== undefined
          ? owner.name.value
          : 'the schema';
      if (owner?.kind !== Kind.FIELD_DEFINITION)
        faults.push(`@tag is on ${place}; it may be on fields only`);
      const name = tagName(tag);
      if (name === undefined || !Object.hasOwn(SURFACES, name))
        faults.push(`the @tag on ${place} names no surface`);
    },
  });
  return faults;
}

function tagName(tag: DirectiveNode): string | undefined {
  const value = tag.arguments?.find((argument) => argument.name.value === 'name')?.value;
  return value?.kind === Kind.STRING ? value.value : undefined;
}
