// How cost grows: with keys, with members in each store, and with look-ups in one request.
import { requestTexts } from '../http.ts';
import { aliasedQuery, NUMBER } from '../population.ts';
import { type Contender, type Course, measureRounds, median, series } from '../rounds.ts';
import { ratios, shown, shownSpread, spread } from '../statistics.ts';
import { startApart, startInOne, startRemote } from '../variants/ours.ts';
import type { Part, Table } from './part.ts';

type Step = Contender & { count: number };

const KEYS: Step[] = [1, 10, 100].map((keys) => ({
  title: `${keys}`,
  count: keys,
  start: (stage) => startRemote(stage, { keys }),
}));

const LOOKUPS: Step[] = [1, 2, 5, 10].map((count) => ({
  title: `${count}`,
  count,
  start: (stage) => startRemote(stage),
  texts: (running) =>
    requestTexts(
      running,
      aliasedQuery(count),
      Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`e${index}`, `member${NUMBER}@bench.example`]),
      ),
    ),
}));

export const growth: Part = {
  title: 'Growth',
  async run(stage, options) {
    const sizes = options.quick ? [1_000, 10_000] : [10_000, 100_000, 1_000_000];
    const embedded = sizes.map(
      (count): Step => ({ title: shown(count), count, start: (at) => startInOne(at, count) }),
    );
    const mongo = sizes.map(
      (count): Step => ({ title: shown(count), count, start: (at) => startApart(at, count) }),
    );
    const byKeys = await measureRounds(stage, KEYS, options);
    const byLookups = await measureRounds(stage, LOOKUPS, options);
    const byEmbedded = await measureRounds(stage, embedded, options);
    const byMongo = await measureRounds(stage, mongo, options);
    return {
      tables: [
        table('Keys in use, this gateway with budgets in Redis', 'keys', byKeys),
        lookups(byLookups),
        table('Members in the embedded store, all in one process', 'members', byEmbedded),
        table('Members in MongoDB, all apart', 'members', byMongo),
      ],
      figures: { growthEmbedded: grown(byEmbedded), growthMongo: grown(byMongo) },
      notes: [...byKeys, ...byLookups, ...byEmbedded, ...byMongo].flatMap(
        ({ contender, failure }) =>
          failure === undefined ? [] : [`${contender.title} failed: ${failure.slice(0, 300)}`],
      ),
    };
  },
};

// The time a look-up takes of the whole system, the store's server included: the inverse of look-ups a second.
function grown(courses: Course<Step>[]) {
  return ratios(series(courses[0], 'perSecond'), series(courses.at(-1), 'perSecond'));
}

function table(title: string, what: string, courses: Course<Step>[]): Table {
  return {
    title,
    columns: [what, 'requests/s', 'cost to the first row', 'p50 ms', 'p99 ms', 'CPU µs/request'],
    rows: courses.map((course) => [
      course.contender.title,
      shownSpread(spread(series(course, 'perSecond'))),
      shown(ratios(series(courses[0], 'perSecond'), series(course, 'perSecond')).median),
      ...(['p50Ms', 'p99Ms', 'cpuMicros'] as const).map((name) => shown(median(course, name))),
    ]),
  };
}

function lookups(courses: Course<Step>[]): Table {
  return {
    title: 'Aliased look-ups in one request, this gateway',
    columns: [
      'look-ups',
      'requests/s',
      'look-ups/s',
      'CPU µs/request',
      'CPU µs/look-up',
      'p50 ms',
      'p99 ms',
    ],
    rows: courses.map((course) => {
      const { title, count } = course.contender;
      const [perSecond, micros] = [median(course, 'perSecond'), median(course, 'cpuMicros')];
      return [
        title,
        ...[
          perSecond,
          perSecond * count,
          micros,
          micros / count,
          median(course, 'p50Ms'),
          median(course, 'p99Ms'),
        ].map(shown),
      ];
    }),
  };
}
