// Finds the metrics, labels and label values that a PromQL expression names.

export type Selector = {
  metric: string;
  /** The values of each label that the expression compares with: `a` and `b` of `=~"a|b"`. */
  labels: Record<string, string[]>;
};

/** Words that are neither metrics nor labels, as far as our expressions use them. */
const WORDS = new Set([
  ...['and', 'or', 'unless', 'on', 'ignoring', 'bool', 'offset', 'by', 'without', 'group_left'],
  ...['sum', 'max', 'min', 'avg', 'count', 'group', 'topk', 'count_values', 'quantile'],
  ...[
    'rate',
    'increase',
    'changes',
    'histogram_quantile',
    'max_over_time',
    'min_over_time',
    'time',
  ],
]);
const SELECTOR = /([a-zA-Z_:][\w:]*)\s*(?:\{([^}]*)\})?/g;
const MATCHER = /(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g;
/** `by (a, b)`, and the like. */
const GROUPING = /\b(?:by|without|on|ignoring|group_left)\s*\(([^)]*)\)/g;
const DURATION = /\[[^\]]*\]|\boffset\s+\w+/g;

export function selectorsOf(expression: string): Selector[] {
  const bare = expression.replace(GROUPING, ' ').replace(DURATION, ' ');
  return [...bare.matchAll(SELECTOR)]
    .filter(([, metric = '']) => !WORDS.has(metric))
    .map(([, metric = '', matchers = '']) => ({
      metric,
      labels: Object.fromEntries(
        [...matchers.matchAll(MATCHER)].map(([, label = '', values = '']) => [
          label,
          values.split('|'),
        ]),
      ),
    }));
}

/** The labels by which an expression groups. */
export function groupingOf(expression: string): string[] {
  return [...expression.matchAll(GROUPING)].flatMap(([, labels = '']) =>
    labels.split(',').map((label) => label.trim()),
  );
}
