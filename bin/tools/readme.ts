// The generated sections of README.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** README.md with its sections generated anew. `root` is the project's root. */
export function renderReadme(root: string): string {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  return withSections(text, { speed: speed(root) });
}

/**
 * Replaces the content of each section, between `<!-- NAME -->` and `<!-- end NAME -->` on lines of
 * their own. Throws if a section has no markers.
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

/** The latest figures of the mix of reads, in words. */
function speed(root: string): string {
  const file = join(root, 'bench/results/mix-reads.json');
  const results: Result[] = JSON.parse(readFileSync(file, 'utf8'));
  const figures = results.find(({ node }) => node.startsWith('20.'))?.figures ?? {};
  return `On a mix of reads by 60 keys of 20 partners, a third of which find nobody, the gateway answers
**${times(figures.mixToApollo)} times as many requests per CPU second as stock Apollo Gateway** and ${times(figures.mixToMercurius)} times as
many as Mercurius. It does so with API keys, budgets, limits, logs and metrics, and without Redis;
they run without any of these. In one process on the embedded store, the service answers ${times(figures.mixInOneToApollo)}
times as many as stock Apollo. All took turns on one core: [results](bench/RESULTS.md),
[method](bench/README.md).
`;
}

type Figures = Record<string, { median: number }>;
type Result = { node: string; figures: Figures };

function times(figure: Figures[string] | undefined): number {
  if (figure === undefined) throw new Error('a figure of the benchmark is missing');
  return Number(figure.median.toPrecision(2));
}
