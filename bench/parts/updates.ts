// What callers of known documents notice while a new graph takes the place of the one that serves.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/support/servers/port.ts';
import { requestTemplates } from '../dataset/requests.ts';
import { supergraphWith } from '../dataset/supergraph.ts';
import { offer } from '../load/offered.ts';
import type { RawResult } from '../load/raw.ts';
import { shown, spread } from '../report/statistics.ts';
import { progress } from '../run/progress.ts';
import type { Server } from '../run/server.ts';
import { ROOT } from '../run/shipped.ts';
import type { Testbed } from '../run/testbed.ts';
import { startInOne } from '../variants/ours.ts';
import type { Options, Part } from './part.ts';

/** The documents in use, each of which has a plan of its own. */
const DOCUMENTS = 200;
const REQUESTS_PER_SECOND = 400;
const CONNECTIONS = 16;
const MEMBERS = 1_000;
/** Types of a third subgraph: none, and enough for a supergraph of about 60 KB. */
const SIZES = [0, 85];
/** Not more often: writing the metrics takes the process milliseconds. */
const POLL_MS = 500;
const WARM_UP_SECONDS = 10;

type Run = { server: Server; admin: string; file: string; supergraph: string; seconds: number };

export const updates: Part = {
  title: 'Updates of the graph under load',
  notes: [
    `${DOCUMENTS} documents are in use, each with a plan of its own, at ${REQUESTS_PER_SECOND} requests a second in all. The planner's thread has the same core as the process.`,
  ],
  method: ({ seconds }) =>
    `Load by load/raw.ts, after ${WARM_UP_SECONDS} s of warm-up, ${seconds * 2} s without updates and ${seconds * 2} s with one after the other`,
  async run(testbed, options) {
    const rows: string[][] = [];
    let heldMs = 0;
    for (const types of SIZES) {
      const { title, calm, updating } = await measureSize(types, testbed, options);
      rows.push(row(`${title}, without updates`, calm), row(`${title}, with updates`, updating));
      heldMs = Math.max(heldMs, updating.heldMs);
    }
    const columns = ['', 'updates', 'p50 ms', 'p99 ms', 'longest ms', 'event loop held, ms'];
    return {
      tables: [{ title: 'Requests for known documents', columns, rows }],
      figures: { updateHold: spread([heldMs]) },
    };
  },
};

async function measureSize(types: number, testbed: Testbed, options: Options) {
  const supergraph = supergraphWith(types, ROOT);
  const file = join(testbed.folder, `updates-${types}.graphql`);
  const adminPort = await freePort();
  replace(file, supergraph);
  const env = {
    SUPERGRAPH_FILE: file,
    ADMIN_PORT: `${adminPort}`,
    CATALOG_SECRET: 'a secret that only the benchmark uses',
  };
  const server = await startInOne(testbed, MEMBERS, { env });
  const admin = `http://127.0.0.1:${adminPort}`;
  const run = { server, admin, file, supergraph, seconds: options.seconds * 2 };
  const title = `${shown(supergraph.length / 1_000)} KB`;
  try {
    await load(run, WARM_UP_SECONDS);
    const calm = await measured(run, { updates: false });
    const updating = await measured(run, { updates: true });
    progress(`${title}: longest ${shown(updating.maxMs)} ms, ${shown(calm.maxMs)} ms without`);
    return { title, calm, updating };
  } finally {
    await server.stop();
  }
}

type Measured = RawResult & { count: number; heldMs: number };

/** With `updates`, the next graph is written as soon as the last one serves. */
async function measured(run: Run, { updates }: { updates: boolean }): Promise<Measured> {
  let isOver = false;
  // The metric is the longest delay since the metrics were last read.
  const before = (await readMetrics(run)).updates;
  let after = before;
  let heldMs = 0;
  const watching = (async () => {
    let replaced = 0;
    while (!isOver) {
      if (updates && after - before === replaced)
        replace(run.file, `${run.supergraph}# ${replaced++}\n`);
      await pause(POLL_MS);
      const read = await readMetrics(run);
      after = read.updates;
      heldMs = Math.max(heldMs, read.heldMs);
    }
  })();
  const result = await load(run, run.seconds);
  isOver = true;
  await watching;
  if (result.failed > 0) throw new Error(`${result.failed} requests failed`);
  return { ...result, count: after - before, heldMs };
}

/** Documents that differ in the name of a fragment do not share a plan. */
function documentOf(number: number): string {
  const fields = 'memberId email firstName lastName tier points';
  return `query($email: String!) { memberByEmail(email: $email) { ...F${number} } } fragment F${number} on PartnerMemberRead { ${fields} }`;
}

function load({ server }: Run, seconds: number): Promise<RawResult> {
  const templates = Array.from({ length: DOCUMENTS }, (_, number) =>
    requestTemplates(server, documentOf(number)),
  ).flat();
  return offer({
    url: server.url,
    templates,
    members: MEMBERS,
    connections: CONNECTIONS,
    cores: 'load',
    seconds,
    ratePerSecond: REQUESTS_PER_SECOND,
  });
}

function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

async function readMetrics({ admin }: Run): Promise<{ updates: number; heldMs: number }> {
  const text = await (await fetch(`${admin}/metrics`)).text();
  const value = (line: string) =>
    Number(
      text
        .split('\n')
        .find((each) => each.startsWith(line))
        ?.split(' ')
        .at(-1) ?? 0,
    );
  return {
    updates: value('supergraph_updates_total{outcome="updated"}'),
    heldMs: value('nodejs_eventloop_lag_max_seconds') * 1_000,
  };
}

function row(title: string, { count, p50Ms, p99Ms, maxMs, heldMs }: Measured): string[] {
  return [title, `${count}`, ...[p50Ms, p99Ms, maxMs, heldMs].map(shown)];
}
