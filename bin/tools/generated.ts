// The files that are generated, each with what it has to hold: facts that stand in code and are read in documents.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compose, openSurface, SURFACES, type SurfaceName } from '@partner-loyalty/gateway';
import { ERRORS, HEADERS, METRICS, SETTINGS, type Transport } from '@partner-loyalty/runtime';
import { printSchema } from 'graphql';
import { resolverTypes, resolverTypesConfig, typedSubgraphs } from './resolvertypes.ts';

export type Generated = {
  /** From the project's root. */
  file: string;
  /** The whole text of the file. */
  render(): string | Promise<string>;
};

export const ROOT = join(import.meta.dirname, '../..');

const README: Generated = {
  file: 'README.md',
  render: () => withSections(readFileSync(join(ROOT, 'README.md'), 'utf8'), { speed: speed() }),
};

export const GENERATED: readonly Generated[] = [
  {
    file: 'docs/generated/settings.md',
    render: () => page('Settings', 'runtime/src/settings/table.ts', settingsTable()),
  },
  {
    file: 'docs/generated/errors.md',
    render: () => page('Errors', 'runtime/src/errors.ts', errorsTable()),
  },
  {
    file: 'docs/generated/headers.md',
    render: () => page('Headers', 'runtime/src/http/headers.ts', headersTable()),
  },
  {
    file: 'docs/generated/metrics.md',
    render: () => page('Metrics', 'runtime/src/observe/metrics.ts', metricsTable()),
  },
  { file: 'gateway/supergraph.graphql', render: supergraph },
  ...typedSubgraphs(ROOT).map(resolverTypesOf),
  ...(Object.keys(SURFACES) as SurfaceName[]).map((surface) => ({
    file: `docs/generated/surface.${surface}.graphql`,
    render: () => schemaOf(surface),
  })),
  README,
];

function resolverTypesOf(folder: string): Generated {
  const { output, mappers } = resolverTypesConfig(join(ROOT, folder));
  return {
    file: `${folder}/${output}`,
    render: () =>
      resolverTypes(readFileSync(join(ROOT, folder, 'schema.graphql'), 'utf8'), mappers),
  };
}

function supergraph(): string {
  return compose(join(ROOT, 'supergraph.yaml'));
}

// Committed so that every diff shows who sees what from now on.
function schemaOf(surface: SurfaceName): string {
  const nowhere: Transport = {
    execute: () => ({ data: null }),
    ready: async () => {},
    close: async () => {},
  };
  const { schema } = openSurface(surface, supergraph(), { members: nowhere, standings: nowhere });
  return `# The schema behind ${SURFACES[surface]}. Generated from the subgraphs' schemas by \`npm run generate\`.\n\n${printSchema(schema)}\n`;
}

/**
 * The text with each section's content put between its markers, `<!-- NAME -->` and `<!-- end NAME -->`, which stand on lines of their own.
 * Throws where a section has no markers.
 */
export function withSections(text: string, sections: Record<string, string>): string {
  let result = text;
  for (const [name, content] of Object.entries(sections)) {
    const [begin, end] = [`<!-- ${name} -->\n`, `<!-- end ${name} -->\n`];
    const from = result.indexOf(begin) + begin.length;
    const to = result.indexOf(end, from);
    if (from < begin.length || to < 0)
      throw new Error(`there is no section between ${begin.trim()} and ${end.trim()}`);
    result = `${result.slice(0, from)}\n${content}\n${result.slice(to)}`;
  }
  return result;
}

function page(title: string, source: string, table: string): string {
  return `# ${title}\n\nGenerated from \`${source}\` by \`npm run generate\`.\n\n${table}`;
}

function settingsTable(): string {
  const rows = Object.values(SETTINGS).map(({ name, default: unset, meaning }) => [
    code(name),
    unset,
    meaning,
  ]);
  return table(['variable', 'default', 'meaning'], rows);
}

function errorsTable(): string {
  const rows = Object.entries(ERRORS).map(([name, { status, when }]) => [
    code(name),
    `${status}`,
    when,
  ]);
  return table(['`extensions.code`', 'status', 'when'], rows);
}

const DIRECTIONS = {
  request: 'from clients',
  response: 'to clients',
  both: 'both ways',
  subgraph: 'gateway to subgraph',
};

function headersTable(): string {
  const rows = Object.values(HEADERS).map(({ name, direction, meaning }) => [
    code(name),
    DIRECTIONS[direction],
    meaning,
  ]);
  return table(['header', 'travels', 'meaning'], rows);
}

function metricsTable(): string {
  const rows = Object.values(METRICS).map(({ name, type, labels, meaning }) => [
    code(name),
    type,
    labels.map(code).join(', '),
    meaning,
  ]);
  return table(['metric', 'type', 'labels', 'meaning'], rows);
}

function table(heads: string[], rows: string[][]): string {
  const line = (cells: string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('');
}

/** The last figures of the benchmark, in words. */
function speed(): string {
  const { figures } = JSON.parse(
    readFileSync(join(ROOT, 'bench/results/gateways.node20.json'), 'utf8'),
  );
  const times = ({ median }: { median: number }) => Number(median.toPrecision(2));
  return `With API keys, budgets in Redis, limits, logs and metrics on, the gateway has
**${times(figures.remoteToApollo)} times the throughput of stock Apollo Gateway**, which runs without any of these. It also has
${times(figures.remoteToFloor)} times that of a plain \`node:http\` server that makes the same two calls without GraphQL. In one
process on the embedded store, the service has ${times(figures.inOneToApollo)} times the throughput of stock Apollo. All ran
side by side, on one core each: [results](bench/RESULTS.md), [method](bench/README.md).
`;
}

const code = (text: string) => `\`${text}\``;
