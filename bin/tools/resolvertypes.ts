// Generates the types of a subgraph's resolvers from its schema, with graphql-codegen.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import * as typescriptResolvers from '@graphql-codegen/typescript-resolvers';
import { parse, visit } from 'graphql';

type ResolverTypesConfig = {
  /** The generated file, relative to the subgraph's folder. */
  output: string;
  /**
   * For each schema type whose objects have a TypeScript type in the code: `FILE#TYPE`, as the
   * generated file imports it.
   */
  mappers: Record<string, string>;
};

const FIRST_LINE = '// Resolver types, generated from schema.graphql by `npm run generate`.';

// The root value is what the executor passes. With `avoidOptionals`, objects must have nullable
// fields too, if only as undefined, so that none is forgotten.
const CONFIG = {
  federation: true,
  contextType: '@partner-loyalty/runtime/subgraph/types.ts#SubgraphContext',
  rootValueType: 'undefined',
  maybeValue: 'T | null | undefined',
  avoidOptionals: { field: true },
  skipTypename: true,
  makeResolverTypeCallable: true,
  useTypeImports: true,
  enumsAsTypes: true,
  // Resolvers return a Date; an argument is what the caller sent.
  scalars: { DateTime: { input: 'unknown', output: 'Date' } },
};

/** The folders of the subgraphs with a codegen.json, relative to `root`. */
export function typedSubgraphs(root: string): string[] {
  return readdirSync(join(root, 'subgraphs'))
    .map((name) => `subgraphs/${name}`)
    .filter((folder) => existsSync(join(root, folder, 'codegen.json')));
}

export function resolverTypesConfig(folder: string): ResolverTypesConfig {
  return JSON.parse(readFileSync(join(folder, 'codegen.json'), 'utf8'));
}

/**
 * The text of the generated file, which exports `SubgraphResolvers`: the type of an object with all
 * resolvers that the schema needs.
 */
export async function resolverTypes(schema: string, mappers: ResolverTypesConfig['mappers']) {
  const types = await codegen({
    filename: 'schema.generated.ts',
    schema: visit(parse(schema), { StringValue: leaveOutDescription }),
    documents: [],
    config: { ...CONFIG, mappers },
    pluginMap: {
      typescript,
      typescriptResolvers,
      completeResolvers: { plugin: completeResolvers },
    },
    plugins: [{ typescript: {} }, { typescriptResolvers: {} }, { completeResolvers: {} }],
  });
  return `${FIRST_LINE}\n${types.trimEnd()}\n`;
}

/** Descriptions are in the schema, beside the resolvers. */
function leaveOutDescription(_: unknown, property: string | number | undefined): null | undefined {
  return property === 'description' ? null : undefined;
}

function completeResolvers() {
  return {
    prepend: [
      "import type { CompleteResolvers } from '@partner-loyalty/runtime/subgraph/resolvers.ts';",
    ],
    content: `/** All resolvers that the schema needs. */
export type SubgraphResolvers = CompleteResolvers<Resolvers, ResolversTypes>;`,
  };
}
