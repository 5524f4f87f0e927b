// A bar chart of the last 7 days by hour, as SVG that needs neither scripts nor styles of its own.
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';

type Bar = {
  /** In UTC: `2031-05-17T10`. */
  hour: string;
  /** Stacked, the first one below. */
  parts: readonly number[];
  /** What a pointer over it reads. */
  label: string;
};

export type Chart = {
  /** For screen readers. */
  title: string;
  bars: readonly Bar[];
  /** The classes of the parts, for the style. */
  classes: readonly string[];
  /** The highest value of the axis. */
  most: number;
  axis: (value: number) => string;
};

const [LEFT, RIGHT, TOP, BOTTOM] = [78, 716, 16, 164];

/** `hours` are all that the chart covers, the oldest first. */
export function barChart(chart: Chart, hours: readonly string[]): Html {
  const { title, bars, classes, most, axis } = chart;
  const step = (RIGHT - LEFT) / hours.length;
  const places = new Map(hours.map((hour, place) => [hour, LEFT + place * step]));
  const y = (value: number) => BOTTOM - (value / most) * (BOTTOM - TOP);
  const levels = [0, most / 2, most].map(
    (value) => html`<path class="level" d="M${LEFT} ${y(value)}H${RIGHT}"/>
<text x="${LEFT - 8}" y="${y(value) + 7}" text-anchor="end">${axis(value)}</text>`,
  );
  const days = Array.from(places).flatMap(([hour, x]) =>
    hour.endsWith('T00')
      ? html`<text x="${round(x)}" y="${BOTTOM + 26}" text-anchor="middle">${hour.slice(5, 10)}</text>`
      : [],
  );
  const drawn = bars.map(({ hour, parts, label }) => {
    const x = places.get(hour) ?? LEFT;
    let bottom = BOTTOM;
    const rects = parts.map((part, level) => {
      // A single error among thousands of requests is still to be seen.
      const height = part === 0 ? 0 : Math.max(1.5, BOTTOM - y(part));
      bottom -= height;
      return html`<rect class="${classes[level] ?? ''}" x="${round(x + 0.4)}" y="${round(bottom)}" width="${round(step - 0.8)}" height="${round(height)}"/>`;
    });
    return html`<g><title>${label}</title>${rects}<rect class="hour" x="${round(x)}" y="${TOP}" width="${round(step)}" height="${BOTTOM - TOP}"/></g>`;
  });
  return html`<svg viewBox="0 0 752 198" role="img" aria-label="${title}">
${levels}${days}${drawn}
</svg>`;
}

/** The least of 2, 4, 6, 8, 10, 20, … that is not below a value: half of it is a whole number. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return power * ([2, 4, 6, 8].find((factor) => factor * power >= value) ?? 10);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
