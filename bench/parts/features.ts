// The cost of each feature: each switched on over a gateway without any, then all of them together.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { copyStores, createKeys, type KeyLimits, storesOf } from '../dataset/stores.ts';
import { shown, shownSpread, spread } from '../report/outcome.ts';
import { type Measurable, underLoad } from '../run/measure.ts';
import { type Contender, cell, values, valuesOf } from '../run/measurements.ts';
import { measureAlternating } from '../run/rounds.ts';
import { benchServer, ROOT } from '../run/shipped.ts';
import type { Testbed } from '../run/testbed.ts';
import type { Feature } from '../servers/features.ts';
import type { Part } from './part.ts';

/** `traced` is the share of the requests that are recorded. */
type Others = { redis?: boolean; traced?: number; audited?: boolean; limits?: KeyLimits };

const ALL: Feature[] = ['auth', 'limit', 'logs', 'metrics', 'keyUse', 'records', 'bounds'];
const NONE = row('none', []);
const ALL_MEMORY = row('all, limit in this process', ALL);
const ALL_REDIS = row('all, limit in Redis', ALL, { redis: true });
/** All that operators see of a request. */
const SEEN = row(
  'logs, metrics by operation and partner, use of keys, scopes',
  ['auth', 'logs', 'callers', 'keyUse'],
  { limits: { scopes: ['read'] } },
);
const TRACED_RARELY = row('tracing, 1 % recorded', [], { traced: 0.01 });
const ROWS = [
  NONE,
  row('auth', ['auth']),
  row('limit in this process', ['limit']),
  row('limit in Redis', ['limit'], { redis: true }),
  row('logs', ['logs']),
  row('metrics', ['metrics']),
  row('audit log', [], { audited: true }),
  TRACED_RARELY,
  SEEN,
  ALL_MEMORY,
  ALL_REDIS,
  // What it adds to the first row is the noise of the run.
  row('none, once more', []),
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
  async run(testbed, options) {
    const all = await measureAlternating(testbed, ROWS, options);
    const without = valuesOf(all, NONE, 'cpuMicros');
    const added = (contender: Contender) =>
      spread(
        valuesOf(all, contender, 'cpuMicros').map(
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
            cell(measurements, 'cpuMicros'),
            shownSpread(added(measurements.contender)),
            shown(spread(values(measurements, 'perSecond')).median),
          ]),
        },
      ],
      figures: {
        featuresSeen: added(SEEN),
        featuresTraced: added(TRACED_RARELY),
        featuresRedis: added(ALL_REDIS),
        featuresMemory: added(ALL_MEMORY),
      },
    };
  },
  comparables: [NONE, ALL_MEMORY, ALL_REDIS],
};

function row(title: string, on: readonly Feature[], others: Others = {}): Contender {
  return { title, start: (testbed, root = ROOT) => startWith(testbed, root, on, others) };
}

async function startWith(
  testbed: Testbed,
  root: string,
  on: readonly Feature[],
  { redis = false, traced, audited = false, limits }: Others,
): Promise<Measurable> {
  const stores = storesOf(0);
  const keys = await createKeys(stores, 1, limits);
  const { dataDir } = root === ROOT ? stores : await copyStores(stores, testbed.folder);
  const options = {
    on,
    dataDir,
    ...(redis && { redisUrl: await testbed.redisUrl() }),
    ...(traced !== undefined && { traced: { endpoint: await startSink(), ratio: traced } }),
    ...(audited && { auditLog: join(testbed.folder, 'audit.log') }),
  };
  const server = await testbed.start({
    root,
    args: (port) => benchServer(root, 'features.ts', { port, ...options }),
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
