// The project's performance goals, one row each: ratios and costs, all within one run.

/** A figure has one of the two limits. */
export type FigureRow = { meaning: string; atLeast?: number; atMost?: number };

export const FIGURES = {
  mixToMercurius: {
    meaning:
      'a mix of reads by 60 keys, without Redis, answers per CPU second, relative to Mercurius',
    atLeast: 3,
  },
  mixToApollo: {
    meaning: 'the same, relative to stock Apollo Gateway',
    atLeast: 14,
  },
  mixInOneToApollo: {
    meaning: 'the same in one process on the embedded store, relative to stock Apollo Gateway',
    atLeast: 18,
  },
  mixTail: { meaning: "p99 of the mix with 32 connections, relative to Mercurius'", atMost: 1 },
  mixKeys: {
    meaning: 'CPU time of the mix by 60 keys, without Redis, relative to the same by 1 key',
    atMost: 1.05,
  },
  publicToApollo: {
    meaning: 'the public benchmark, answers per CPU second, relative to stock Apollo Gateway',
    atLeast: 8,
  },
  publicToHive: {
    meaning: 'the same, relative to Hive Gateway with the planner in Rust',
    atLeast: 2.5,
  },
  publicRequests: { meaning: 'its requests to subgraphs', atMost: 7 },
  tenthToFloor: {
    meaning: "p99 at a tenth of saturation, relative to the floor's at the same rate",
    atMost: 1.2,
  },
  tailToFloor: {
    meaning: "p99/p50 at half of saturation, relative to the floor's at the same rate",
    atMost: 1.5,
  },
  featuresRedis: {
    meaning: 'CPU time of auth, limits in Redis, logs and metrics, µs/request',
    atMost: 25,
  },
  featuresMemory: {
    meaning: 'CPU time of auth, limits in process, logs and metrics, µs/request',
    atMost: 10,
  },
  featuresSeen: {
    meaning:
      'CPU time of logs, metrics by operation and partner, use of keys and scopes, with auth, µs/request',
    atMost: 5,
  },
  featuresTraced: { meaning: 'CPU time of tracing, 1 % recorded, µs/request', atMost: 3 },
  growthEmbedded: {
    meaning: 'time per look-up with the most members, relative to 10,000, embedded store',
    atMost: 1.3,
  },
  growthMongo: {
    meaning: 'the same, MongoDB',
    atMost: 1.3,
  },
  feedEmbedded: {
    meaning: 'time of a page of a feed with the most events, relative to 10,000, embedded store',
    atMost: 1.1,
  },
  feedMongo: { meaning: 'the same, MongoDB', atMost: 1.1 },
  recordingOne: { meaning: 'time to record an activity on MongoDB, ms', atMost: 8 },
  recordingHundred: { meaning: 'the same of 100 in one call, ms', atMost: 15 },
  importedActivities: { meaning: 'activities a second of an import on MongoDB', atLeast: 8_000 },
  importedMembers: { meaning: 'members a second of an import on MongoDB', atLeast: 2_000 },
  mongoLookUp: {
    meaning: 'CPU time of a look-up on MongoDB, 32 at once, members with 20 enrollments, µs',
    atMost: 20,
  },
  aloneToMercurius: {
    meaning: "p50 of a known document, one request at a time, relative to Mercurius'",
    atMost: 1,
  },
  aloneMemory: { meaning: 'the same without Redis', atMost: 1 },
  documentToMercurius: {
    meaning:
      "p50 of new documents (new aliases, known plans), one at a time, relative to Mercurius'",
    atMost: 1.5,
  },
  documentTail: { meaning: 'p99 of new documents, one at a time, ms', atMost: 6 },
  fairDocuments: {
    meaning:
      'p99 of a look-up while 300 new documents of another key arrive at once, relative to quiet',
    atMost: 10,
  },
  fairWorst: { meaning: 'the same under the worst of the other attacks on the API', atMost: 10 },
  fairSecrets: {
    meaning: "the same while another partner's 480 connections ask for tokens with valid secrets",
    atMost: 10,
  },
  fairAnonymous: {
    meaning:
      'p99 of pages while 1,400 connections ask for tokens without a credential, relative to quiet',
    atMost: 10,
  },
  coldStart: {
    meaning: 'start to the first correct answer, relative to stock Apollo Gateway',
    atMost: 1,
  },
  coldStartInOne: {
    meaning: 'the same in one process on the embedded store, without Redis',
    atMost: 1,
  },
  idleMemory: {
    meaning: 'idle memory in one process on the embedded store, without Redis, MB',
    atMost: 110,
  },
} as const satisfies Record<string, FigureRow>;

export type FigureName = keyof typeof FIGURES;

// Cast: the keys of an object that is typed with these keys.
export const FIGURE_NAMES = Object.keys(FIGURES) as FigureName[];

/** A figure's goal, as tables show it. */
export function goalOf(name: FigureName): string {
  const { atLeast, atMost }: FigureRow = FIGURES[name];
  return atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`;
}

/** A mark that says whether a value meets its goal. */
export function verdict(name: FigureName, value: number): string {
  const { atLeast = -Infinity, atMost = Infinity }: FigureRow = FIGURES[name];
  return value >= atLeast && value <= atMost ? '✓' : '✗';
}
