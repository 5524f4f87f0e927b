// The figures this project holds itself to, one row each; every one is a ratio, or a cost, of one run.

export type FigureRow = { meaning: string; atLeast?: number; atMost?: number };

export const FIGURES = {
  remoteToApollo: {
    meaning: 'this gateway, everything on, to stock Apollo without anything',
    atLeast: 10,
  },
  remoteToMercurius: {
    meaning: 'this gateway, everything on, to Mercurius without anything',
    atLeast: 1.3,
  },
  remoteToFloor: {
    meaning: 'this gateway, everything on, to the floor of two calls',
    atLeast: 0.75,
  },
  inOneToApollo: {
    meaning:
      'in one process on the embedded store, everything on, to stock Apollo on subgraphs in memory',
    atLeast: 15,
  },
  inOneToFloor: {
    meaning: 'in one process on the embedded store, everything on, to the floor in process',
    atLeast: 0.35,
  },
  subgraphToApollo: {
    meaning:
      'a subgraph by itself, signed request to answer, to Apollo Server with @apollo/subgraph',
    atLeast: 3,
  },
  tailToFloor: {
    meaning: "p99 to p50 at half of saturation, to the floor's at the same offered load",
    atMost: 1.5,
  },
  featuresRedis: {
    meaning: 'auth, limit in Redis, request id, log and metrics together, µs a request',
    atMost: 25,
  },
  featuresMemory: { meaning: 'the same with the limit in this process, µs a request', atMost: 10 },
  growthEmbedded: {
    meaning: 'cost of a look-up among the most members to among 10 thousand, embedded',
    atMost: 1.3,
  },
  growthMongo: { meaning: 'the same on MongoDB', atMost: 1.3 },
  soakMemory: {
    meaning: 'memory of the process in one after the soak, to after its warm-up',
    atMost: 1.1,
  },
  workers: { meaning: '2 workers to 1, load from the same two cores' },
} as const satisfies Record<string, FigureRow>;

export type FigureName = keyof typeof FIGURES;

/** Whether a value keeps to its row; undefined where the row only asks for it to be stated. */
export function keeps(name: FigureName, value: number): boolean | undefined {
  const { atLeast, atMost }: FigureRow = FIGURES[name];
  if (atLeast !== undefined) return value >= atLeast;
  return atMost === undefined ? undefined : value <= atMost;
}
