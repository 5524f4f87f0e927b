// Charts of the last 7 days by hour, as SVG that needs neither scripts nor styles of its own.
import { type Html, html } from '../pages/html.ts';

/** What a chart shows of an hour, and what a pointer over it reads. */
export type Mark<Value> = { value: Value; label: string };

export type ChartOf<Value> = {
  /** For screen readers: what the chart shows. */
  title: string;
  /** In UTC, the oldest first: `2031-05-17T10`. */
  hours: readonly string[];
  marks: ReadonlyMap<string, Mark<Value>>;
  /** The highest value. */
  most: number;
  axis: (value: number) => string;
};

const [WIDTH, HEIGHT] = [720, 194];
const [LEFT, RIGHT, TOP, BOTTOM] = [62, 716, 16, 164];

/** For each hour a bar, of parts that stand on each other: the first below, with these classes. */
export function barChart(
  chart: ChartOf<readonly number[]>,
  classes: readonly [string, ...string[]],
): Html {
  const { x, step } = placesOf(chart.hours);
  const y = scaleTo(chart.most);
  const bars = chart.hours.flatMap((hour, place) => {
    let sum = 0;
    return (chart.marks.get(hour)?.value ?? []).flatMap((part, level) => {
      if (part === 0) return [];
      const [bottom, top] = [y(sum), y(sum + part)];
      sum += part;
      // A single error among thousands of requests is still to be seen.
      const height = Math.max(1.5, bottom - top);
      return html`<rect class="${classes[level] ?? ''}" x="${round(x(place) + 0.4)}" y="${round(bottom - height)}" width="${round(step - 0.8)}" height="${round(height)}"/>`;
    });
  });
  return svg(chart, bars);
}

/** For each hour a level of each line, with these classes; hours next to each other are joined. */
export function lineChart(
  chart: ChartOf<readonly number[]>,
  classes: readonly [string, ...string[]],
): Html {
  const { x, step } = placesOf(chart.hours);
  const y = scaleTo(chart.most);
  const lines = classes.map((name, level) => {
    let isJoined = false;
    const path = chart.hours.map((hour, place) => {
      const value = chart.marks.get(hour)?.value[level];
      const begin = isJoined ? 'V' : `M${round(x(place))} `;
      isJoined = value !== undefined;
      return value === undefined ? '' : `${begin}${round(y(value))}h${round(step)}`;
    });
    return html`<path class="${name}" d="${path.join('')}"/>`;
  });
  return svg(chart, lines);
}

/** The least of 1, 2, 5, 10, 20, … that is not below a value. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return power * ([1, 2, 5].find((factor) => factor * power >= value) ?? 10);
}

function svg<Value>({ title, hours, marks, most, axis }: ChartOf<Value>, shapes: Html[]): Html {
  const { x, step } = placesOf(hours);
  const y = scaleTo(most);
  const levels = [0, most / 2, most].map(
    (
      value,
    ) => html`<line class="level" x1="${LEFT}" x2="${RIGHT}" y1="${y(value)}" y2="${y(value)}"/>
<text x="${LEFT - 8}" y="${y(value) + 4}" text-anchor="end">${axis(value)}</text>`,
  );
  const days = hours.flatMap((hour, place) =>
    hour.endsWith('T00')
      ? html`<line class="day" x1="${round(x(place))}" x2="${round(x(place))}" y1="${BOTTOM}" y2="${BOTTOM + 6}"/>
<text x="${round(x(place))}" y="${BOTTOM + 22}" text-anchor="${anchorAt(place, hours.length)}">${dayOf(hour)}</text>`
      : [],
  );
  const pointed = hours.flatMap((hour, place) => {
    const mark = marks.get(hour);
    return mark === undefined
      ? []
      : html`<rect class="hour" x="${round(x(place))}" y="${TOP}" width="${round(step)}" height="${BOTTOM - TOP}"><title>${mark.label}</title></rect>`;
  });
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">
${levels}${days}${shapes}${pointed}
</svg>`;
}

function placesOf(hours: readonly string[]) {
  const step = (RIGHT - LEFT) / hours.length;
  return { step, x: (place: number) => LEFT + place * step };
}

function scaleTo(most: number): (value: number) => number {
  return (value) => BOTTOM - (value / most) * (BOTTOM - TOP);
}

/** Labels near either end stay inside. */
function anchorAt(place: number, count: number): string {
  if (place > count * 0.95) return 'end';
  return place < count * 0.05 ? 'start' : 'middle';
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

function dayOf(hour: string): string {
  return DAY.format(new Date(`${hour}:00Z`));
}
