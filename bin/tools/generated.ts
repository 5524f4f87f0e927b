// The generated files, each with the text that it must have.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SURFACE_NAMES } from '@partner-loyalty/gateway';
import { surfaceText } from '@partner-loyalty/gateway/execute/committed.ts';
import { compose } from '@partner-loyalty/registry/publish/compose.ts';
import { once } from '@partner-loyalty/runtime/once.ts';
import { clientErrors, clientTypes } from './client.ts';
import { recordedResponses } from './examples.ts';
import { resolverTypes, resolverTypesConfig, typedSubgraphs } from './resolvertypes.ts';
import { bundleScript } from './scripts.ts';
import { errorsTable, headersTable, logTable, metricsTable, settingsTable } from './tables.ts';

export type Generated = {
  /** From the project's root. */
  file: string;
  /** The whole text of the file. */
  render(): string | Promise<string>;
};

export const ROOT = join(import.meta.dirname, '../..');

export const GENERATED: readonly Generated[] = [
  page('operators/settings', 'Settings', 'runtime/src/settings/table.ts', settingsTable),
  page('callers/codes', 'Error codes', 'runtime/src/errors.ts', errorsTable),
  page('callers/headers', 'Headers', 'runtime/src/http/headers.ts', headersTable),
  page('operators/metrics', 'Metrics', 'runtime/src/observe/metrics.ts', metricsTable),
  page('operators/log', 'Fields of the log', 'runtime/src/observe/fields.ts', logTable),
  { file: 'gateway/supergraph.graphql', render: supergraph },
  ...typedSubgraphs(ROOT).map(resolverTypesOf),
  // Committed, so that a diff shows every change of what a surface exposes.
  ...SURFACE_NAMES.map((surface) => ({
    file: `gateway/surface.${surface}.graphql`,
    render: () => surfaceText(supergraph(), surface),
  })),
  { file: 'client/src/generated/errors.generated.ts', render: clientErrors },
  ...SURFACE_NAMES.map((surface) => ({
    file: `client/src/generated/${surface}.generated.ts`,
    render: async () => clientTypes(surface, await surfaceText(supergraph(), surface)),
  })),
  ...script('extensions/site/src/explorer', 'explorer/main.ts'),
  ...script('extensions/site/src/docs', 'explorer/docs.ts'),
  {
    file: 'extensions/site/src/docs/responses.generated.json',
    render: () => recordedResponses(ROOT),
  },
];

function script(folder: string, main: string): Generated[] {
  const bundle = once(() => bundleScript(ROOT, main));
  return [
    { file: `${folder}/app.generated.js`, render: async () => (await bundle()).script },
    { file: `${folder}/licenses.txt`, render: async () => (await bundle()).licenses },
  ];
}

function page(name: string, title: string, source: string, table: () => string): Generated {
  return {
    file: `docs/${name}.md`,
    render: () =>
      `# ${title}\n\n[//]: # (Generated from ${source} by npm run generate.)\n\n${table()}`,
  };
}

function resolverTypesOf(folder: string): Generated {
  const { output, mappers } = resolverTypesConfig(join(ROOT, folder));
  return {
    file: `${folder}/${output}`,
    render: () =>
      resolverTypes(readFileSync(join(ROOT, folder, 'schema.graphql'), 'utf8'), mappers),
  };
}

function supergraph(): string {
  const former = readFileSync(join(ROOT, 'gateway/supergraph.graphql'), 'utf8');
  return compose(join(ROOT, 'supergraph.yaml'), former);
}
