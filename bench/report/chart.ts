// Draws the bar chart of gateways as SVG, readable on light and dark pages.
import type { Bar } from './outcome.ts';

/** The bars of a part on one Node version. */
type Chart = { title: string; node: string; bars?: Bar[] };

const WIDTH = 860;
const LABEL_WIDTH = 370;
const NUMBER_WIDTH = 90;
const ROW_HEIGHT = 24;
const COLOURS = { ours: '#2f81f7', peer: '#8b949e', floor: '#bf8700' };

/** Requests per second of each variant, with a block of bars, and a scale, for each chart. */
export function drawChart(charts: readonly Chart[]): string {
  const parts: string[] = [];
  let y = 30;
  for (const { title, node, bars = [] } of charts) {
    const highest = Math.max(1, ...bars.map(({ perSecond }) => perSecond || 0));
    parts.push(
      `<text x="0" y="${y}" class="head">${escaped(title)}: requests per second on one core, Node ${escaped(node)}</text>`,
    );
    y += 12;
    const measured = bars
      .filter(({ perSecond }) => perSecond > 0)
      .sort((a, b) => b.perSecond - a.perSecond);
    for (const bar of measured) {
      parts.push(...drawBar(bar, bar.perSecond / highest, y));
      y += ROW_HEIGHT;
    }
    y += 30;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y - 10}" role="img" aria-label="Requests per second of gateways side by side">
<style>
text { font: 13px system-ui, sans-serif; fill: #57606a; }
.head { font-weight: 600; }
@media (prefers-color-scheme: dark) { text { fill: #9da7b1; } }
</style>
${parts.join('\n')}
</svg>
`;
}

function drawBar({ title, kind, perSecond }: Bar, share: number, y: number): string[] {
  const width = Math.max(1, Math.round(share * (WIDTH - LABEL_WIDTH - NUMBER_WIDTH)));
  const number = Math.round(perSecond).toLocaleString('en-US');
  return [
    `<text x="${LABEL_WIDTH - 10}" y="${y + 16}" text-anchor="end">${escaped(title)}</text>`,
    `<rect x="${LABEL_WIDTH}" y="${y + 3}" width="${width}" height="${ROW_HEIGHT - 6}" rx="2" fill="${COLOURS[kind]}"/>`,
    `<text x="${LABEL_WIDTH + width + 8}" y="${y + 16}">${number}</text>`,
  ];
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
