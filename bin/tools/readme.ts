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

/** The latest figures of the benchmark, in words. */
function speed(root: string): string {
  const { figures } = JSON.parse(
    readFileSync(join(root, 'bench/results/gateways.node20.json'), 'utf8'),
  );
  const times = ({ median }: { median: number }) => Number(median.toPrecision(2));
  return `With API keys, budgets in Redis, limits, logs and metrics on, the gateway has
**${times(figures.remoteToApollo)} times the throughput of stock Apollo Gateway**, which runs without any of these. It also has
${times(figures.remoteToFloor)} times that of a plain \`node:http\` server that makes the same two calls without GraphQL. In one
process on the embedded store, the service has ${times(figures.inOneToApollo)} times the throughput of stock Apollo. All ran
side by side, on one core each: [results](bench/RESULTS.md), [method](bench/README.md).
`;
}
