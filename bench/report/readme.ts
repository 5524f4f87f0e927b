// The section of README.md that says how fast the gateway is.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordedResults } from './results.ts';

export const README = join(import.meta.dirname, '../../README.md');

const BEGIN = '<!-- speed -->\n';
const END = '<!-- end speed -->\n';

/** README.md with its section made anew from the recorded results. */
export function renderReadme(): string {
  return withSpeed(readFileSync(README, 'utf8'), speed());
}

/** Replaces what is between the markers. Throws if one is missing. */
export function withSpeed(text: string, content: string): string {
  const from = text.indexOf(BEGIN) + BEGIN.length;
  const to = text.indexOf(END, from);
  if (from < BEGIN.length || to < 0)
    throw new Error(`there is no section between ${BEGIN.trim()} and ${END.trim()}`);
  return `${text.slice(0, from)}\n${content}\n${text.slice(to)}`;
}

/** The latest figures of the mix of reads, in words. */
function speed(): string {
  const ofMix = recordedResults().filter(({ part }) => part === 'mix-reads');
  const figures: Figures = ofMix.find(({ node }) => node.startsWith('20.'))?.figures ?? {};
  return `On a mix of reads by 60 keys of 20 partners, a third of which find nobody, the gateway answers
**${times(figures.mixToApollo)} times as many requests per CPU second as stock Apollo Gateway** and ${times(figures.mixToMercurius)} times as
many as Mercurius. It does so with API keys, budgets, limits, logs and metrics, and without Redis;
they run without any of these. In one process on the embedded store, the service answers ${times(figures.mixInOneToApollo)}
times as many as stock Apollo. All took turns on one core: [results](bench/RESULTS.md),
[method](bench/README.md).
`;
}

type Figures = Record<string, { median: number } | undefined>;

function times(figure: Figures[string]): number {
  if (figure === undefined) throw new Error('a figure of the benchmark is missing');
  return Number(figure.median.toPrecision(2));
}
