// The latency of one partner's look-ups while somebody else attacks.

import { startProcess } from '../../test/support/servers/process.ts';
import { randomLookUps } from '../dataset/requests.ts';
import { ATTACKS, type Attack } from '../load/attacks.ts';
import { sendRaw } from '../load/raw.ts';
import { pinned } from '../machine/machine.ts';
import { ratios, shownSpread, spread } from '../report/outcome.ts';
import { underLoad } from '../run/measure.ts';
import { progress } from '../run/progress.ts';
import { WARM_UP, warmUp } from '../run/rounds.ts';
import type { Server } from '../run/server.ts';
import { startInOne } from '../variants/ours.ts';
import type { Part } from './part.ts';

const QUIET = 'quiet';
const RATE = 100;
const MEMBERS = 10_000;
const WARM_UP_SECONDS = 4;
// Cast: Object.keys loses the names.
const NAMES = Object.keys(ATTACKS) as Attack['name'][];

export const fair: Part = {
  title: 'One caller while another attacks',
  notes: [
    `A partner sends ${RATE} look-ups a second to one process on the embedded store, without Redis. The attacks come from other addresses, by another partner's key or without one, each beginning anew with the measurement.`,
  ],
  method: ({ seconds, rounds }) =>
    `Load by load/raw.ts at random times, ${seconds} s in quiet and ${seconds} s under each attack, ${rounds} rounds, each in a new process, after ${WARM_UP} and each attack once`,
  async run(testbed, options) {
    const { seconds, rounds } = options;
    const p99s = new Map<string, number[]>([QUIET, ...NAMES].map((name) => [name, []]));
    const failed = new Map<string, number>();
    for (let round = 1; round <= rounds; round += 1) {
      const server = await startInOne(testbed, MEMBERS, { redis: false, keys: 2, partners: 2 });
      try {
        await warmUp([underLoad(server)], options);
        // Once unmeasured: code that runs for the first time takes many times as long.
        for (const name of NAMES) await measure(server, name, WARM_UP_SECONDS);
        for (const name of [QUIET, ...NAMES]) {
          const result = await measure(server, name, seconds);
          p99s.get(name)?.push(result.p99Ms);
          failed.set(name, (failed.get(name) ?? 0) + result.failed);
          progress(`round ${round}: ${name}: p99 ${result.p99Ms.toFixed(1)} ms`);
        }
      } finally {
        await server.stop();
      }
    }
    const quiet = p99s.get(QUIET) ?? [];
    const toQuiet = (name: string) => ratios(p99s.get(name) ?? [], quiet);
    const [documents = QUIET, ...others] = NAMES;
    const worst = others.map(toQuiet).sort((a, b) => b.median - a.median)[0];
    return {
      tables: [
        {
          title: 'Look-ups of a partner',
          columns: ['', 'p99 ms', 'to quiet', 'failed'],
          rows: [QUIET, ...NAMES].map((name) => [
            name,
            shownSpread(spread(p99s.get(name) ?? [])),
            shownSpread(toQuiet(name)),
            String(failed.get(name)),
          ]),
        },
      ],
      figures: { fairDocuments: toQuiet(documents), ...(worst && { fairWorst: worst }) },
    };
  },
};

async function measure(server: Server, name: string, seconds: number) {
  const [caller, attacker = {}] = server.keys;
  const { url } = server;
  const next = randomLookUps({ ...server, keys: [caller ?? {}] });
  const attack =
    name === QUIET ? undefined : await startAttack({ name, url, key: attacker, seconds } as Attack);
  try {
    return await sendRaw({ url, next, seconds, connections: 16, ratePerSecond: RATE });
  } finally {
    await attack?.stop();
  }
}

async function startAttack(attack: Attack) {
  const file = `${import.meta.dirname}/../load/attacks.ts`;
  const run = pinned('load', process.execPath, ['--import', 'tsx', file, JSON.stringify(attack)]);
  const started = await startProcess({ ...run, signal: 'KILL' });
  await started.wrote(/ready/);
  return started;
}
