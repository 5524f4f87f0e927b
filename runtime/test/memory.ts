// A store in memory, for tests of rules.
import { type Key, textOf } from '../src/store/engine/keys.ts';
import {
  boundsOf,
  entriesOf,
  isWithin,
  orderOf,
  type Range,
  runRule,
  type Source,
  type Store,
  sumOf,
  type Table,
} from '../src/store/engine/store.ts';

export function openMemory(): Store {
  const tables = new Map<string, Map<string, string>>();

  function rowsOf({ name }: Table): Map<string, string> {
    const rows = tables.get(name) ?? new Map<string, string>();
    tables.set(name, rows);
    return rows;
  }

  const source: Source = {
    get(from, text) {
      const json = rowsOf(from).get(text);
      return json === undefined ? undefined : JSON.parse(json);
    },
    range: (from, bounds) =>
      Array.from(rowsOf(from), ([text, json]): [string, object] => [text, JSON.parse(json)])
        .filter(([text]) => isWithin(bounds, text))
        .sort(orderOf(bounds))
        .slice(0, bounds.limit),
  };
  // Cast: a table has rows of one type.
  const get = <Row>(from: Table, key: Key) => source.get(from, textOf(key)) as Row | undefined;
  const range = <Row>(from: Table, within: Range) =>
    entriesOf<Row>(source.range(from, boundsOf(within)));

  return {
    get,
    getAll: <Row>(from: Table, keys: readonly Key[]) => keys.map((key) => get<Row>(from, key)),
    range,
    keys: (from, within) => range(from, within).map(({ key }) => key),
    count: (from, within) => range(from, { ...within, limit: Number.MAX_SAFE_INTEGER }).length,
    view: (rule) => runRule(rule, source).result,
    async transact(rule) {
      const { result, writes } = runRule(rule, source);
      for (const [to, rows] of writes)
        for (const [text, row] of rows)
          if (row === undefined) rowsOf(to).delete(text);
          else rowsOf(to).set(text, JSON.stringify(row));
      return result;
    },
    async add(to, additions) {
      for (const addition of additions)
        rowsOf(to).set(
          textOf(addition.key),
          JSON.stringify(sumOf(get(to, addition.key), addition)),
        );
    },
    ready: async () => undefined,
    close: async () => undefined,
  };
}
