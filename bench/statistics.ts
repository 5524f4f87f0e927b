// Medians with the least and the greatest, and ratios taken round by round.

export type Spread = { median: number; least: number; greatest: number };

/** Of at least one value. */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low = Number.NaN, high = Number.NaN] = [
    sorted[Math.floor(middle)],
    sorted[Math.ceil(middle)],
  ];
  return {
    median: (low + high) / 2,
    least: sorted[0] ?? Number.NaN,
    greatest: sorted.at(-1) ?? Number.NaN,
  };
}

/** The value below which `share` of the values lie. */
export function percentile(values: Float64Array, share: number): number {
  return (
    values.toSorted()[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
  );
}

/** The ratios of two variants, each of one round. */
export function ratios(above: readonly number[], below: readonly number[]): Spread {
  return spread(above.map((value, round) => value / (below[round] ?? Number.NaN)));
}

/** A number as tables show it: three digits or the whole part, whichever is more. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** A median with the least and the greatest in brackets. */
export function shownSpread({ median, least, greatest }: Spread): string {
  return least === greatest || Number.isNaN(median)
    ? shown(median)
    : `${shown(median)} (${shown(least)}–${shown(greatest)})`;
}
