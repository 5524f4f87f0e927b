// The latency of one partner's look-ups while somebody else attacks.

import { startProcess } from '../../test/support/servers/process.ts';
import { partnerIdOf } from '../dataset/population.ts';
import { randomLookUps } from '../dataset/requests.ts';
import { createApps, storesOf } from '../dataset/stores.ts';
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
const QUIET_PAGES = 'pages in quiet';
const RATE = 100;
const CONNECTIONS = 16;
/** So many that no visitor is over a limit, and neither is an app. */
const VISITORS = Array.from({ length: CONNECTIONS }, (_, n) => `127.0.1.${n + 1}`);
const APPS = 10;
const PAGES = ['/sign-in', '/console', '/.well-known/jwks.json'];
const CHANGES = { redis: false, keys: 2, partners: 2 };
const MEMBERS = 10_000;
const WARM_UP_SECONDS = 4;
// Cast: Object.keys loses the names.
const ATTACK_NAMES = Object.keys(ATTACKS) as Attack['name'][];
const [SECRETS, ANONYMOUS] = ATTACK_NAMES.slice(-2);
const NAMES = [...ATTACK_NAMES.slice(0, -1), QUIET_PAGES, ...ATTACK_NAMES.slice(-1)];
const arePages = (name: string) => name === QUIET_PAGES || name === ANONYMOUS;

export const fair: Part = {
  title: 'One caller while another attacks',
  notes: [
    `A partner sends ${RATE} look-ups a second to one process on the embedded store, without Redis. In the last two rows, visitors from ${CONNECTIONS} addresses open as many pages instead: sign-in, console and signing keys. The attacks come from other addresses, by another partner's key or apps or without either, each beginning anew with the measurement.`,
  ],
  method: ({ seconds, rounds }) =>
    `Load by load/raw.ts at random times, ${seconds} s in quiet and ${seconds} s under each attack, ${rounds} rounds, each in a new process, after ${WARM_UP} and each attack once`,
  async run(testbed, options) {
    const { seconds, rounds } = options;
    const p99s = new Map<string, number[]>([QUIET, ...NAMES].map((name) => [name, []]));
    const failed = new Map<string, number>();
    for (let round = 1; round <= rounds; round += 1) {
      const server = await startInOne(testbed, MEMBERS, CHANGES);
      try {
        const apps = await createApps(storesOf(MEMBERS, CHANGES), partnerIdOf(1), APPS);
        await warmUp([underLoad(server)], options);
        // Once unmeasured: code that runs for the first time takes many times as long.
        for (const name of NAMES)
          await measure(server, name, { apps, net: 0, seconds: WARM_UP_SECONDS });
        for (const name of [QUIET, ...NAMES]) {
          const result = await measure(server, name, { apps, net: 2, seconds });
          p99s.get(name)?.push(result.p99Ms);
          failed.set(name, (failed.get(name) ?? 0) + result.failed);
          progress(`round ${round}: ${name}: p99 ${result.p99Ms.toFixed(1)} ms`);
        }
      } finally {
        await server.stop();
      }
    }
    const toQuiet = (name: string) =>
      ratios(p99s.get(name) ?? [], p99s.get(arePages(name) ? QUIET_PAGES : QUIET) ?? []);
    const [documents = QUIET, ...others] = ATTACK_NAMES.slice(0, -2);
    const worst = others.map(toQuiet).sort((a, b) => b.median - a.median)[0];
    return {
      tables: [
        {
          title: 'Look-ups of a partner, and pages',
          columns: ['', 'p99 ms', 'to quiet', 'failed'],
          rows: [QUIET, ...NAMES].map((name) => [
            name,
            shownSpread(spread(p99s.get(name) ?? [])),
            shownSpread(toQuiet(name)),
            String(failed.get(name)),
          ]),
        },
      ],
      figures: {
        fairDocuments: toQuiet(documents),
        ...(worst && { fairWorst: worst }),
        fairSecrets: toQuiet(SECRETS ?? ''),
        fairAnonymous: toQuiet(ANONYMOUS ?? ''),
      },
    };
  },
};

async function measure(
  server: Server,
  name: string,
  attack: Pick<Attack, 'apps' | 'net' | 'seconds'>,
) {
  const [caller = {}, key = {}] = server.keys;
  const { url } = server;
  const load = { url, seconds: attack.seconds, connections: CONNECTIONS, ratePerSecond: RATE };
  const isQuiet = name === QUIET || name === QUIET_PAGES;
  const started = isQuiet ? undefined : await startAttack({ ...attack, name, url, key } as Attack);
  try {
    return arePages(name)
      ? await sendRaw({ ...load, next: visits(), addresses: VISITORS })
      : await sendRaw({ ...load, next: randomLookUps({ ...server, keys: [caller] }) });
  } finally {
    await started?.stop();
  }
}

/** Each page in turn. */
function visits(): () => string {
  let sent = 0;
  return () => `GET ${PAGES[sent++ % PAGES.length]} HTTP/1.1\r\nhost: x\r\n\r\n`;
}

async function startAttack(attack: Attack) {
  const file = `${import.meta.dirname}/../load/attacks.ts`;
  const run = pinned('load', process.execPath, ['--import', 'tsx', file, JSON.stringify(attack)]);
  const started = await startProcess({ ...run, signal: 'KILL' });
  await started.wrote(/ready/);
  return started;
}
