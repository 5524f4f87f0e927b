// Draws the bar chart of gateways as SVG, readable on light and on dark pages.
import type { Result } from './report.ts';

const WIDTH = 860;
const LABELS = 370;
const ROW = 24;
const COLOURS = { ours: '#2f81f7', peer: '#8b949e', floor: '#bf8700' };

/** Requests a second of each variant, a block of bars for each Node version. */
export function drawChart(results: readonly Pick<Result, 'node' | 'machine' | 'bars'>[]): string {
  const greatest = Math.max(
    1,
    ...results.flatMap(({ bars = [] }) => bars.map(({ perSecond }) => perSecond || 0)),
  );
  const room = WIDTH - LABELS - 90;
  const parts: string[] = [];
  let y = 30;
  for (const { node, bars = [] } of results) {
    parts.push(
      `<text x="0" y="${y}" class="head">Node ${escaped(node)}: requests a second on one core</text>`,
    );
    y += 12;
    const shownBars = bars
      .filter(({ perSecond }) => perSecond > 0)
      .sort((a, b) => b.perSecond - a.perSecond);
    for (const { title, kind, perSecond } of shownBars) {
      const width = Math.max(1, Math.round((perSecond / greatest) * room));
      const number = Math.round(perSecond).toLocaleString('en-US');
      parts.push(
        `<text x="${LABELS - 10}" y="${y + 16}" text-anchor="end">${escaped(title)}</text>`,
        `<rect x="${LABELS}" y="${y + 3}" width="${width}" height="${ROW - 6}" rx="2" fill="${COLOURS[kind]}"/>`,
        `<text x="${LABELS + width + 8}" y="${y + 16}">${number}</text>`,
      );
      y += ROW;
    }
    y += 30;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y - 10}" role="img" aria-label="Requests a second of gateways side by side">
<style>
text { font: 13px system-ui, sans-serif; fill: #57606a; }
.head { font-weight: 600; }
@media (prefers-color-scheme: dark) { text { fill: #9da7b1; } }
</style>
${parts.join('\n')}
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
