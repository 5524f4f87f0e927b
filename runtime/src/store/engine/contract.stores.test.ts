// What every rule relies on, on each engine.

import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { ALL_ENGINES } from '../../../../test/support/engines.ts';
import { programArgs } from '../../../../test/support/programs/programs.ts';
import { emptyPlace } from '../../../../test/support/servers/databases.ts';
import { openMemory } from '../../../test/memory.ts';
import { openLmdb } from '../lmdb.ts';
import { withDataDirAlone } from '../lock.lmdb.ts';
import type { Key } from './keys.ts';
import { openStore } from './open.ts';
import { removeRange, removeRows } from './remove.ts';
import { openLmdbStore } from './store.lmdb.ts';
import { type Store, type Transaction, table, type View } from './store.ts';
import { verifyTable } from './verify.ts';

type Count = { n: number };
const COUNTS = table<Count>('counts');
/** Rows of a group, by its name and a text. */
const MEMBERS = table<Count>('members', { group: 'group' });
const OTHERS = table<Count>('others', { group: 'group' });
const LISTS = table<{ ids: string[] }>('lists', { group: 'list' });
const VALUES = table<Record<string, unknown>>('values');
type Person = { name: string; mails: string[] };
const MAILS = table<{ id: string }>('mails');
const PEOPLE = table<Person>('people', {
  indexes: [
    {
      table: MAILS,
      entriesOf: ({ mails }, [id = '']) => mails.map((mail) => ({ key: [mail], row: { id } })),
      // Cast: the index has such rows only.
      rowKeyOf: ({ row }) => [(row as { id: string }).id],
    },
  ],
});
/** In the order of their times. */
const TIMES = table('times', { isUnique: true });
const VISITS = table<{ at: number }>('visits', {
  indexes: [
    {
      table: TIMES,
      entriesOf: ({ at }, [id = '']) => [{ key: [at, id], row: {} }],
      rowKeyOf: ({ key: [, id = ''] }) => [id],
    },
  ],
});
/** By each tag, with what all entries of a note share. */
const TAGS = table<{ title: string }>('tags', { isUnique: true });
const NOTES = table<{ title: string; tags: string[] }>('notes', {
  indexes: [
    {
      table: TAGS,
      entriesOf({ title, tags }, [id = '']) {
        const row = { title };
        return tags.map((tag) => ({ key: [tag, id], row }));
      },
      rowKeyOf: ({ key: [, id = ''] }) => [id],
    },
  ],
});
const TABLES = [COUNTS, MEMBERS, OTHERS, LISTS, VALUES, PEOPLE, VISITS, NOTES];

describe.each(ALL_ENGINES)('a store on %s', (engine) => {
  let place: ReturnType<typeof emptyPlace>;
  /** The store as several processes have it open. */
  let stores: [Store, Store, Store];
  let store: Store;

  let retries: number;
  let memory: Store;

  async function open(): Promise<Store> {
    if (engine === 'memory') return memory;
    const storeRetry = () => {
      retries += 1;
    };
    return openStore(
      { ...place.settings, environment: 'sandbox', metrics: { storeRetry } },
      'members',
      TABLES,
    );
  }

  beforeEach(async () => {
    place = emptyPlace(engine);
    retries = 0;
    memory = openMemory();
    stores = [await open(), await open(), await open()];
    [store] = stores;
  });
  afterEach(async () => {
    for (const each of stores) await each.close();
    await place.release();
  });

  /** Acts `times` times at once, in turn through each of the processes. */
  const together = <T>(times: number, act: (store: Store, index: number) => Promise<T>) =>
    Promise.all(
      Array.from({ length: times }, (_, index) => act(stores[index % 3] ?? store, index)),
    );
  const put = (entries: [Key, number][], to = COUNTS) =>
    store.transact((tx) => {
      for (const [key, n] of entries) tx.put(to, key, { n });
    });
  const numbers = async (prefix: Key, more: object = {}, of = COUNTS) =>
    (await store.range(of, { prefix, limit: 100, ...more })).map(({ row }) => row.n);
  const add = (tx: Transaction, key: Key, n: number) =>
    tx.put(COUNTS, key, { n: (tx.get(COUNTS, key)?.n ?? 0) + n });

  test('has a row once it was put, until it is removed, in every process', async () => {
    expect(await store.get(COUNTS, ['a'])).toBeUndefined();
    await put([[['a'], 1]]);
    await put([[['a'], 2]]);
    for (const each of stores) expect(await each.get(COUNTS, ['a'])).toEqual({ n: 2 });
    await store.transact((tx) => tx.remove(COUNTS, ['a']));
    await store.transact((tx) => tx.remove(COUNTS, ['a']));
    for (const each of stores) expect(await each.get(COUNTS, ['a'])).toBeUndefined();
  });

  test('is opened and closed again while others write', async () => {
    let written = 0;
    const writeUntil = async (end: number) => {
      while (written < end) await store.transact((tx) => tx.put(COUNTS, ['a'], { n: ++written }));
    };
    const writing = writeUntil(50);
    for (let n = 0; n < 5; n++) {
      const other = await open();
      await other.transact((tx) => tx.put(COUNTS, [`other${n}`], { n }));
      await other.close();
    }
    await writing;
    expect(await store.count(COUNTS, { prefix: [] })).toBe(6);
  });

  test('keeps a row as it was put', async () => {
    const row = {
      text: 'ὀδυσσεύς \u{1f600} \0 "',
      nested: { list: [1, -0.5, 2 ** 53 - 1, null, true, { deep: [] }] },
      empty: {},
      missing: undefined,
    };
    await store.transact((tx) => tx.put(VALUES, ['a'], row));
    const { missing, ...kept } = row;
    expect(await store.get(VALUES, ['a'])).toEqual(kept);
    expect(Object.keys((await store.get(VALUES, ['a'])) ?? {})).toEqual(Object.keys(kept));
    await store.transact((tx) => tx.put(VALUES, ['b'], { text: 'x'.repeat(1_000_000) }));
    expect((await store.get(VALUES, ['b']))?.text).toHaveLength(1_000_000);
  });

  test('finds the rows of any number of keys, in their order', async () => {
    const keys = Array.from({ length: 1_250 }, (_, at): Key => ['a', at]);
    await put(keys.map((key, at) => [key, at]));
    const asked = [...keys.toReversed(), ['b'], keys[3] ?? []];
    const found = [...keys.keys()].toReversed();
    expect((await store.getAll(COUNTS, asked)).map((row) => row?.n)).toEqual([
      ...found,
      undefined,
      3,
    ]);
    const inRule = await store.transact((tx) => tx.getAll(COUNTS, asked).map((row) => row?.n));
    expect(inRule).toEqual([...found, undefined, 3]);
    expect(await store.getAll(COUNTS, [])).toEqual([]);
  });

  test('has ranges of keys in their order: by prefix, from, after, until, limit', async () => {
    await put([
      [['a', 10, 'x'], 3],
      [['a', 9, 'x'], 1],
      [['a', 9, 'y'], 2],
      [['a'], 0],
      [['a!', 9, 'x'], 8],
      [['a b', 9, 'x'], 7],
      [['b', 1, 'x'], 9],
    ]);
    expect(await numbers(['a'])).toEqual([0, 1, 2, 3]);
    expect(await numbers(['a', 9])).toEqual([1, 2]);
    expect(await numbers(['a b'])).toEqual([7]);
    expect(await numbers([])).toEqual([0, 1, 2, 3, 7, 8, 9]);
    expect(await numbers(['a'], { from: ['a', 9, 'y'] })).toEqual([2, 3]);
    expect(await numbers(['a'], { after: ['a', 9, 'y'] })).toEqual([3]);
    expect(await numbers(['a'], { from: ['a', 9], until: ['a', 10] })).toEqual([1, 2]);
    expect(await numbers(['a'], { limit: 2 })).toEqual([0, 1]);
    expect(await numbers(['a'], { from: ['a', 11], until: ['a', 3] })).toEqual([]);
    const last = { prefix: [], limit: 1, reverse: true };
    expect(await store.keys(COUNTS, last)).toEqual([['b', 1, 'x']]);
    const [, entry] = await store.range(COUNTS, { prefix: ['a'], limit: 2 });
    expect(entry).toEqual({ key: ['a', 9, 'x'], row: { n: 1 } });
  });

  test('reads beforehand what a rule is said to read, and runs it on that', async () => {
    await put([[['a'], 1]]);
    let runs = 0;
    const rule = (tx: Transaction) => {
      runs += 1;
      add(tx, ['a'], 1);
      return tx.get(MEMBERS, ['g', 'b'])?.n;
    };
    const reads = [
      { table: COUNTS, keys: [['a'], ['never asked for']] },
      { table: MEMBERS, keys: [['g', 'b']] },
    ];
    expect(await store.transact(rule, reads)).toBeUndefined();
    expect(runs).toBe(1);
    await together(12, (each) => each.transact(rule, reads));
    expect(await store.get(COUNTS, ['a'])).toEqual({ n: 14 });
  });

  test('has the last of several writes of a row in one rule', async () => {
    await put([[['a'], 1]]);
    await store.transact((tx) => {
      tx.put(COUNTS, ['b'], { n: 1 });
      tx.put(COUNTS, ['b'], { n: 2 });
      tx.remove(COUNTS, ['a']);
      tx.put(COUNTS, ['a'], { n: 3 });
      tx.put(COUNTS, ['c'], { n: 4 });
      tx.remove(COUNTS, ['c']);
      tx.remove(COUNTS, ['never there']);
    });
    expect(await numbers([])).toEqual([3, 2]);
  });

  test('orders keys by their parts, whatever characters these have', async () => {
    // In the order of their code points.
    const parts = [
      '',
      '\0',
      '\n',
      ' ',
      '!',
      '#',
      '#1',
      '@',
      'a',
      'a b',
      'é',
      '\uffff',
      '\u{1f600}',
    ];
    await put(parts.toReversed().map((part): [Key, number] => [[part, 'z'], parts.indexOf(part)]));
    expect(await numbers([], { limit: 50 })).toEqual([...parts.keys()]);
    const keys = await store.keys(COUNTS, { prefix: [], limit: 50 });
    expect(keys).toEqual(parts.map((part) => [part, 'z']));
    for (const [at, part] of parts.entries()) {
      expect(await numbers([part])).toEqual([at]);
      expect(await store.get(COUNTS, [part, 'z'])).toEqual({ n: at });
      expect(await numbers([], { limit: 50, after: [part, 'z'] })).toEqual(
        [...parts.keys()].slice(at + 1),
      );
    }
  });

  test('gives no rule a row that another one can change', async () => {
    await store.transact((tx) => tx.put(VALUES, ['a'], { list: [1] }));
    await store.transact((tx) => {
      const row = tx.get(VALUES, ['a']) as { list: number[] };
      row.list.push(2);
    });
    expect(await store.get(VALUES, ['a'])).toEqual({ list: [1] });
    const kept = { list: [3] };
    await store.transact((tx) => tx.put(VALUES, ['b'], kept));
    kept.list.push(4);
    expect(await store.get(VALUES, ['b'])).toEqual({ list: [3] });
  });

  test('lets a row go and come again without mistaking one for the other', async () => {
    const removed = await together(30, (each, index) =>
      each.transact((tx) => {
        const found = tx.get(COUNTS, ['a']);
        if (index % 3 !== 0) tx.put(COUNTS, ['a'], { n: (found?.n ?? 0) + 1 });
        else if (found !== undefined) tx.remove(COUNTS, ['a']);
        return index % 3 === 0 ? (found?.n ?? 0) : 0;
      }),
    );
    const left = (await store.get(COUNTS, ['a']))?.n ?? 0;
    expect(removed.reduce((sum, n) => sum + n, left)).toBe(20);
  });

  test('serves many groups in one transaction, and many transactions of one group', async () => {
    await store.transact((tx) => {
      for (let group = 0; group < 150; group += 1)
        if (tx.get(OTHERS, [`g${group}`, 'mark']) === undefined)
          tx.put(MEMBERS, [`g${group}`, 'a'], { n: group });
    });
    expect(await store.count(MEMBERS, { prefix: [] })).toBe(150);
    await together(24, (each, index) =>
      each.transact((tx) => {
        const found = tx.range(MEMBERS, { prefix: ['g0'], limit: 100 });
        tx.put(MEMBERS, ['g0', `x${index}`], { n: found.length });
      }),
    );
    expect((await numbers(['g0'], {}, MEMBERS)).toSorted((one, other) => one - other)).toEqual([
      0,
      ...Array.from({ length: 24 }, (_, at) => at + 1),
    ]);
  });

  test('lets a mark keep out all that comes after it, and none that came before', async () => {
    const outcomes = await together(24, (each, index) =>
      each.transact((tx) => {
        if (index === 11) {
          tx.put(OTHERS, ['g', 'mark'], { n: 1 });
          return tx.range(MEMBERS, { prefix: ['g'], limit: 100 }).length;
        }
        if (tx.get(OTHERS, ['g', 'mark']) !== undefined) return 0;
        tx.put(MEMBERS, ['g', `m${index}`], { n: 1 });
        return 1;
      }),
    );
    const stored = await store.count(MEMBERS, { prefix: ['g'] });
    expect(outcomes[11]).toBe(stored);
    expect(outcomes.filter((_, index) => index !== 11 && outcomes[index] === 1)).toHaveLength(
      stored,
    );
  });

  test('lets nobody remove a row as absent that is there by then', async () => {
    for (let round = 0; round < 8; round += 1) {
      const [key, mark] = [
        ['row', round],
        [`g${round}`, 'mark'],
      ];
      await together(6, (each, index) =>
        each.transact((tx) => {
          const isMarked = tx.get(OTHERS, mark) !== undefined;
          const n = tx.get(COUNTS, key)?.n ?? 0;
          if (index === 0) {
            // Each takes a while to read, in which others write.
            for (let at = 0; at < 30; at += 1) tx.peek(VALUES, ['slow', round, at]);
            tx.put(OTHERS, mark, { n: 1 });
            tx.remove(COUNTS, key);
          } else if (!isMarked) tx.put(COUNTS, key, { n: n + 1 });
        }),
      );
      expect(await store.get(COUNTS, key)).toBeUndefined();
    }
  });

  test('lets no two write into the range that the other one has found empty', async () => {
    for (let round = 0; round < 8; round += 1) {
      const groups = [`a${round}`, `b${round}`];
      const found = await together(2, (each, index) =>
        each.transact((tx) => {
          const [read = '', written = ''] = index === 0 ? groups : groups.toReversed();
          const { length } = tx.range(MEMBERS, { prefix: [read], limit: 10 });
          // Each takes a while to read, in which the other one writes.
          for (let at = 0; at < 10; at += 1) tx.peek(VALUES, ['slow', round, at]);
          tx.put(MEMBERS, [written, 'm'], { n: 1 });
          return length;
        }),
      );
      expect(found.sort()).toEqual([0, 1]);
    }
  });

  test('has the last rows of a range first if it is reversed, and counts a range', async () => {
    await put(
      Array.from({ length: 9 }, (_, n): [Key, number] => [['g', n], n]),
      MEMBERS,
    );
    await put([[['h', 1], 77]], MEMBERS);
    const last = { reverse: true, limit: 3 };
    expect(await numbers(['g'], last, MEMBERS)).toEqual([8, 7, 6]);
    expect(await numbers(['g'], { ...last, until: ['g', 5] }, MEMBERS)).toEqual([4, 3, 2]);
    expect(await numbers(['g'], { ...last, from: ['g', 7] }, MEMBERS)).toEqual([8, 7]);
    const seen = await store.transact((tx) => {
      tx.remove(MEMBERS, ['g', 8]);
      tx.put(MEMBERS, ['g', 6], { n: 60 });
      return tx.range(MEMBERS, { prefix: ['g'], ...last }).map(({ row }) => row.n);
    });
    expect(seen).toEqual([7, 60, 5]);
    expect(await store.count(MEMBERS, { prefix: ['g'] })).toBe(8);
    expect(await store.count(MEMBERS, { prefix: ['g'], from: ['g', 3], until: ['g', 6] })).toBe(3);
  });

  test('keeps the entries of an index with each row', async () => {
    const person = (id: string, ...mails: string[]) =>
      store.transact((tx) => tx.put(PEOPLE, [id], { name: id, mails }));
    const owners = async () =>
      (await store.range(MAILS, { prefix: [], limit: 9 })).map(({ key, row }) => [...key, row.id]);
    await person('a', 'x', 'y');
    await person('b', 'z');
    expect(await owners()).toEqual([
      ['x', 'a'],
      ['y', 'a'],
      ['z', 'b'],
    ]);
    await store.transact((tx) => {
      tx.put(PEOPLE, ['a'], { name: 'a', mails: ['y'] });
      tx.put(PEOPLE, ['b'], { name: 'b', mails: ['z', 'x'] });
      expect(tx.get(MAILS, ['x'])).toEqual({ id: 'b' });
    });
    expect(await owners()).toEqual([
      ['x', 'b'],
      ['y', 'a'],
      ['z', 'b'],
    ]);
    await store.transact((tx) => tx.remove(PEOPLE, ['b']));
    expect(await owners()).toEqual([['y', 'a']]);
  });

  test("moves the entries of an index that are no other row's, however often in one rule", async () => {
    const times = async () => (await store.keys(TIMES, { prefix: [], limit: 9 })).flat();
    const visit = (...ats: number[]) =>
      store.transact((tx) => {
        for (const at of ats) tx.put(VISITS, ['a'], { at });
      });
    await visit(5);
    await visit(7, 5, 7, 5);
    expect(await times()).toEqual([5, 'a']);
    await visit(6, 5, 9);
    expect(await times()).toEqual([9, 'a']);
    await store.transact((tx) => {
      tx.remove(VISITS, ['a']);
      tx.put(VISITS, ['a'], { at: 9 });
    });
    expect(await times()).toEqual([9, 'a']);
    await together(12, (each, at) => each.transact((tx) => tx.put(VISITS, ['a'], { at })));
    expect(await times()).toEqual([(await store.get(VISITS, ['a']))?.at, 'a']);
  });

  test('changes entries of an index that share a row with one that is added', async () => {
    const note = (title: string, ...tags: string[]) =>
      store.transact((tx) => tx.put(NOTES, ['a'], { title, tags }));
    await note('first', 'x');
    await note('second', 'x', 'y');
    const found = await store.range(TAGS, { prefix: [], limit: 9 });
    expect(found.map(({ key: [tag], row }) => [tag, row.title])).toEqual([
      ['x', 'second'],
      ['y', 'second'],
    ]);
  });

  test('lets one of many have a key of an index that each has found free', async () => {
    const taken = await together(20, (each, n) =>
      each.transact((tx) => {
        if (tx.get(MAILS, ['x']) !== undefined) return false;
        tx.put(PEOPLE, [`p${n}`], { name: '', mails: ['x'] });
        return true;
      }),
    );
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await store.count(PEOPLE, { prefix: [] })).toBe(1);
    expect(await store.get(MAILS, ['x'])).toEqual({ id: `p${taken.indexOf(true)}` });
  });

  test('shows a rule what it has written itself', async () => {
    await put(
      [
        [['g', 'a'], 1],
        [['g', 'b'], 2],
        [['g', 'c'], 3],
      ],
      MEMBERS,
    );
    const seen = await store.transact((tx) => {
      tx.put(MEMBERS, ['g', 'd'], { n: 4 });
      tx.remove(MEMBERS, ['g', 'a']);
      tx.put(MEMBERS, ['g', 'b'], { n: 20 });
      const rows = (limit: number) =>
        tx.range(MEMBERS, { prefix: ['g'], limit }).map(({ row }) => row.n);
      const keys = ['a', 'b', 'c', 'none'].map((id): Key => ['g', id]);
      const peeked = tx.peekAll(MEMBERS, keys).map((row) => row?.n);
      return [
        tx.get(MEMBERS, ['g', 'a']),
        tx.get(MEMBERS, ['g', 'b'])?.n,
        peeked,
        rows(2),
        rows(9),
      ];
    });
    expect(seen).toEqual([undefined, 20, [undefined, 20, 3, undefined], [20, 3], [20, 3, 4]]);
    expect(await numbers(['g'], {}, MEMBERS)).toEqual([20, 3, 4]);
  });

  test('writes nothing if the rule throws, and passes on what it throws', async () => {
    const failure = new Error('no');
    const failing = store.transact((tx) => {
      tx.put(COUNTS, ['a'], { n: 1 });
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    await put([[['b'], 2]]);
    expect(await numbers([])).toEqual([2]);
  });

  test('loses no change to one of many rows that are replaced and removed at once', async () => {
    const keys = Array.from({ length: 12 }, (_, at): Key => ['a', at]);
    await put(keys.map((key) => [key, 0]));
    await together(24, (each, index) =>
      each.transact((tx) => {
        const own = keys.filter((_, at) => at % 3 !== index % 3);
        const sum = own.reduce((total, key) => total + (tx.get(COUNTS, key)?.n ?? 0), 0);
        for (const [at, key] of own.entries())
          if (at === index % 8) tx.put(COUNTS, key, { n: sum + 1 });
          else tx.remove(COUNTS, key);
      }),
    );
    expect((await numbers(['a'])).reduce((sum, n) => sum + n, 0)).toBe(24);
  });

  test('loses no change that others make to the same row at once', async () => {
    await together(60, (each) => each.transact((tx) => add(tx, ['a'], 1)));
    expect(await store.get(COUNTS, ['a'])).toEqual({ n: 60 });
    expect(retries > 0).toBe(engine === 'mongodb');
  });

  test('takes the changes of one process to a row one after the other', async () => {
    await put([[['a'], 0]]);
    const changes = Array.from({ length: 60 }, () => store.transact((tx) => add(tx, ['a'], 1)));
    await Promise.all(changes);
    expect(await numbers([])).toEqual([60]);
    expect(retries).toBe(0);
  });

  test('shows a rule that only reads, or throws, rows that were there together', async () => {
    await put([
      [['a'], 50],
      [['b'], 50],
    ]);
    const moving = together(20, (each, n) =>
      each.transact((tx) => {
        add(tx, ['a'], n);
        add(tx, ['b'], -n);
      }),
    );
    const sum = (tx: View) => (tx.get(COUNTS, ['a'])?.n ?? 0) + (tx.get(COUNTS, ['b'])?.n ?? 0);
    const reading = together(60, async (each, index) => {
      if (index % 4 === 3) return each.view(sum);
      return each
        .transact((tx) => {
          if (index % 2 === 0) return sum(tx);
          throw sum(tx);
        })
        .catch((thrown) => thrown);
    });
    expect(new Set(await reading)).toEqual(new Set([100]));
    await moving;
  });

  test('adds to counters, many at once', async () => {
    await together(60, (each, index) =>
      each.add(COUNTS, [{ key: ['a'], amounts: { n: 2, odd: index % 2 } }]),
    );
    expect(await store.get(COUNTS, ['a'])).toEqual({ n: 120, odd: 30 });
  });

  test('raises numbers to the highest of many, and begins rows with what does not change', async () => {
    await store.add(VALUES, []);
    await together(30, (each, index) =>
      each.add(VALUES, [
        { key: ['a'], amounts: {}, highest: { most: index } },
        { key: ['b'], amounts: { n: 1 }, highest: { most: 0.5 }, initially: { text: 'b' } },
      ]),
    );
    expect(await store.get(VALUES, ['a'])).toEqual({ most: 29 });
    expect(await store.get(VALUES, ['b'])).toEqual({ n: 30, most: 0.5, text: 'b' });
  });

  test('removes many rows, in slices', async () => {
    for (let from = 0; from < 450; from += 150)
      await put(Array.from({ length: 150 }, (_, at) => [['a', from + at], at]));
    await put([[['b'], 1]]);
    await removeRange(store, COUNTS, { prefix: ['a'], from: ['a', 10] });
    expect(await store.count(COUNTS, { prefix: [] })).toBe(11);
    await removeRows(store, COUNTS, [['a', 3], ['none']]);
    expect(await store.count(COUNTS, { prefix: ['a'] })).toBe(9);
  });

  test('puts transactions into an order that explains what each has read', async () => {
    const reads = fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { minLength: 1 });
    const history = fc.array(fc.record({ reads, writes: reads, ranges: fc.boolean() }), {
      minLength: 6,
      maxLength: 12,
    });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(history, async (plans) => {
        round += 1;
        const group = `h${round}`;
        const seen = await together(plans.length, (each, index) =>
          each.transact((tx) => run(tx, group, `t${index}`, plans[index])),
        );
        const final = new Map<string, string[]>();
        for (const { key, row } of await store.range(LISTS, { prefix: [group], limit: 9 }))
          final.set(String(key[1]), row.ids);
        expect(circleIn(seen, final)).toBeUndefined();
      }),
      { numRuns: engine === 'mongodb' ? 8 : 20 },
    );
  });
});

test('a view on LMDB has what another process has written in the same tick', async () => {
  const { settings, release } = emptyPlace('lmdb');
  const programs = table('programs');
  const store = await openLmdbStore(settings.dataDir, 'sandbox', 'standings', [programs]);
  expect(store.get(programs, ['inn'])).toBeUndefined();
  const program = programArgs('test/support/store/acknowledge.ts');
  execFileSync(process.execPath, [...program, settings.dataDir], { stdio: 'pipe' });
  expect(store.view((view) => view.get(programs, ['inn']))).toHaveProperty('tiers');
  await store.close();
  await release();
});

test('a store on LMDB whose tables cannot be opened leaves its data folder to others', async () => {
  const { settings, release } = emptyPlace('lmdb');
  const tables = Array.from({ length: 200 }, (_, n) => table(`table${n}`));
  await expect(openLmdbStore(settings.dataDir, 'sandbox', 'members', tables)).rejects.toThrow();
  expect(await withDataDirAlone(settings.dataDir, async () => 'alone')).toBe('alone');
  await release();
});

test('the verification names each row of LMDB that cannot be read, once, and goes on', async () => {
  const { settings, release } = emptyPlace('lmdb');
  const open = () => openLmdbStore(settings.dataDir, 'sandbox', 'members', TABLES);
  const filled = await open();
  await filled.transact((tx) => {
    for (const id of ['a', 'b', 'c']) tx.put(PEOPLE, [id], { name: id, mails: [`${id}@x`] });
  });
  await filled.close();
  const { root } = await openLmdb(settings.dataDir, 'members', 'sandbox');
  const bytesOf = (name: string) => root.openDB<Buffer, string>({ name, encoding: 'binary' });
  const [people, mails] = [bytesOf('people'), bytesOf('mails')];
  await root.transaction(() => {
    people.put('b', Buffer.from('{"name":"b"'));
    mails.put('c@x', Buffer.from('{'));
  });
  await root.close();
  const store = await open();
  const problems: string[] = [];
  const inspected: string[] = [];
  const count = await verifyTable(
    store,
    PEOPLE,
    ([id], problem) => problems.push(`${id}: ${problem}`),
    { inspect: (page) => void inspected.push(...page.map(({ row }) => row.name)), limit: 2 },
  );
  expect([count, inspected]).toEqual([2, ['a', 'c']]);
  expect(problems).toEqual([
    'b: the record cannot be read',
    'c: the index mails does not have it as it is',
  ]);
  await store.close();
  await release();
});

type Plan = { reads: string[]; writes: string[]; ranges: boolean };
type Seen = { id: string; lists: Map<string, readonly string[]> };

/** Reads lists, and appends the transaction's ID to some. */
function run(tx: Transaction, group: string, id: string, plan?: Plan): Seen {
  const lists = new Map<string, readonly string[]>();
  const { reads = [], writes = [], ranges = false } = plan ?? {};
  if (ranges) {
    for (const name of ['x', 'y', 'z']) lists.set(name, []);
    for (const { key, row } of tx.range(LISTS, { prefix: [group], limit: 9 }))
      lists.set(String(key[1]), row.ids);
  }
  for (const name of reads) lists.set(name, tx.get(LISTS, [group, name])?.ids ?? []);
  for (const name of writes) {
    const ids = tx.get(LISTS, [group, name])?.ids ?? [];
    lists.set(name, ids);
    tx.put(LISTS, [group, name], { ids: [...ids, id] });
  }
  return { id, lists };
}

/**
 * A transaction that would have to come before itself. Who has read a list comes after those in it,
 * and before the first one that is not; all lists are beginnings of the final ones.
 */
function circleIn(
  seen: readonly Seen[],
  final: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  const after = new Map<string, Set<string>>();
  const isAfter = (late: string | undefined, early: string | undefined) => {
    if (late === undefined || early === undefined || late === early) return;
    after.set(late, (after.get(late) ?? new Set()).add(early));
  };
  for (const { id, lists } of seen)
    for (const [name, read] of lists) {
      const all = final.get(name) ?? [];
      expect(all.slice(0, read.length)).toEqual(read);
      isAfter(id, read.at(-1));
      const next = all[read.length] === id ? all[read.length + 1] : all[read.length];
      isAfter(next, id);
    }
  for (const ids of final.values())
    for (const [place, id] of ids.entries()) isAfter(id, ids[place - 1]);
  const done = new Set<string>();
  const visit = (id: string, path: readonly string[]): string | undefined => {
    if (path.includes(id)) return id;
    if (done.has(id)) return undefined;
    for (const early of after.get(id) ?? []) {
      const circle = visit(early, [...path, id]);
      if (circle !== undefined) return circle;
    }
    done.add(id);
    return undefined;
  };
  for (const { id } of seen) {
    const circle = visit(id, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}
