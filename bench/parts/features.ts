// The cost of each feature: each switched on over a gateway without any, then all of them together.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { copyStores, createKeys, type KeyLimits, storesOf } from '../dataset/stores.ts';
import { type Spread, shown, shownSpread, spread } from '../report/outcome.ts';
import type { Comparable } from '../run/compare.ts';
import { type Measurable, underLoad } from '../run/measure.ts';
import { type Contender, type Measurements, median, values } from '../run/measurements.ts';
import { inTurns, measureAlternating } from '../run/rounds.ts';
import { benchServer, nodeFlags, ROOT } from '../run/shipped.ts';
import type { Testbed } from '../run/testbed.ts';
import type { Feature } from '../servers/features.ts';
import type { Part } from './part.ts';

type Mix = {
  title: string;
  on: readonly Feature[];
  redis?: boolean;
  traced?: number;
  audited?: boolean;
  limits?: KeyLimits;
};

const ALL: Feature[] = ['auth', 'limit', 'logs', 'metrics', 'keyUse', 'records', 'bounds'];
const NONE: Mix = { title: 'none', on: [] };
/** What it adds to the first row is the noise of the run. */
const NONE_AGAIN: Mix = { title: 'none, once more', on: [] };
const ALL_MEMORY: Mix = { title: 'all, limit in this process', on: ALL };
const ALL_REDIS: Mix = { title: 'all, limit in Redis', on: ALL, redis: true };
/** All that operators see of a request, whose key has no list of addresses, as most have none. */
const SEEN: Mix = {
  title: 'logs, metrics by operation and partner, use of keys, scopes',
  on: ['auth', 'logs', 'callers', 'keyUse'],
  limits: { scopes: ['read'] },
};
const TRACED_RARELY: Mix = { title: 'tracing, 1 % recorded', on: [], traced: 0.01 };
const MIXES: Mix[] = [
  NONE,
  { title: 'auth', on: ['auth'] },
  {
    title: 'auth, with scopes and a list of addresses',
    on: ['auth'],
    limits: { scopes: ['read'], allow: ['10.0.0.0/8', '127.0.0.0/8'] },
  },
  { title: 'limit in this process', on: ['limit'] },
  { title: 'limit in Redis', on: ['limit'], redis: true },
  { title: 'logs', on: ['logs'] },
  { title: 'metrics', on: ['metrics'] },
  { title: 'metrics by operation and partner alone', on: ['callers'] },
  { title: 'use of keys', on: ['keyUse'] },
  { title: 'request records', on: ['records'] },
  { title: 'bounds on connections and load', on: ['bounds'] },
  { title: 'audit log', on: [], audited: true },
  TRACED_RARELY,
  { title: 'tracing, all recorded', on: [], traced: 1 },
  SEEN,
  ALL_MEMORY,
  ALL_REDIS,
  NONE_AGAIN,
];

export const features: Part = {
  title: 'Cost of each feature',
  notes: [
    'A row "none, once more" is the first one again and shows the noise: smaller differences mean nothing. Two starts of the same process differ, so more rounds are better than longer ones.',
    'Every row includes the request id, which the HTTP server always makes. The CPU time of Redis itself is not counted.',
    'Every row includes the bounds on documents, bodies, responses and caches, which cannot be switched off.',
    'With the audit log, each request writes a line about one member to a file.',
    'A row without tracing has it off, as it is without an endpoint. With it, each recorded request has nine spans; what the queue of the SDK does not hold is dropped. The collector reads and forgets them in the process of the benchmark.',
    'In every row, requests wait for the end of the poll phase, as they do with a limiter: waiting alone saves more than a limiter costs.',
  ],
  method: inTurns,
  async run(testbed, options) {
    const contenders = MIXES.map((mix): Contender & { mix: Mix } => ({
      mix,
      title: mix.title,
      start: (at) => startMix(at, ROOT, mix),
    }));
    const all = await measureAlternating(testbed, contenders, options);
    const find = (mix: Mix) => all.find(({ contender }) => contender.mix === mix);
    const without = values(find(NONE), 'cpuMicros');
    const added = (measurements: Measurements<Contender> | undefined): Spread =>
      spread(
        values(measurements, 'cpuMicros').map(
          (micros, round) => micros - (without[round] ?? Number.NaN),
        ),
      );
    return {
      tables: [
        {
          title: 'The gateway with both subgraphs in its process, answering from memory',
          columns: ['on', 'CPU µs/request', 'added µs', 'requests/s'],
          rows: all.map((measurements) => [
            measurements.contender.title,
            shownSpread(spread(values(measurements, 'cpuMicros'))),
            measurements.contender.mix === NONE ? '' : shownSpread(added(measurements)),
            shown(median(measurements, 'perSecond')),
          ]),
        },
      ],
      figures: {
        featuresSeen: added(find(SEEN)),
        featuresTraced: added(find(TRACED_RARELY)),
        featuresRedis: added(find(ALL_REDIS)),
        featuresMemory: added(find(ALL_MEMORY)),
      },
    };
  },
  comparables: [NONE, ALL_MEMORY, ALL_REDIS].map(
    (mix): Comparable => ({
      title: `Features: ${mix.title}`,
      start: (testbed, root) => startMix(testbed, root, mix),
    }),
  ),
};

async function startMix(
  testbed: Testbed,
  root: string,
  { on, redis = false, traced, audited = false, limits }: Mix,
): Promise<Measurable> {
  const stores = storesOf(0);
  const keys = await createKeys(stores, 1, limits);
  const { dataDir } = root === ROOT ? stores : copyStores(stores, testbed.folder);
  const redisUrl = redis ? await testbed.redisUrl() : undefined;
  const endpoint = traced === undefined ? undefined : await startSink();
  const options = {
    on,
    redisUrl,
    dataDir,
    ...(endpoint !== undefined && { traced: { endpoint, ratio: traced } }),
    ...(audited && { auditLog: join(testbed.folder, 'audit.log') }),
  };
  const server = await testbed.start({
    root,
    args: (port) => [
      ...nodeFlags(root),
      benchServer(root, 'features.ts'),
      JSON.stringify({ port, ...options }),
    ],
    keys,
  });
  return underLoad(server);
}

/** A collector of traces that forgets them. It ends with this process. */
async function startSink(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end());
  }).unref();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Cast: a server that listens on a port has an address with a port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
