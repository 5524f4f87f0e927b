// `npm run bench`: runs parts of the benchmark on each Node version at hand, prints what comes of it and keeps it in RESULTS.md.
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { GENERATOR } from './load/load.ts';
import { describeMachine, nodeVersions, stepAside } from './machine.ts';
import { coldstart } from './parts/coldstart.ts';
import { document } from './parts/document.ts';
import { features } from './parts/features.ts';
import { gateways } from './parts/gateways.ts';
import { growth } from './parts/growth.ts';
import { offered } from './parts/offered.ts';
import type { Options, Part } from './parts/part.ts';
import { profile } from './parts/profile.ts';
import { soak } from './parts/soak.ts';
import { subgraph } from './parts/subgraph.ts';
import { workers } from './parts/workers.ts';
import { installPeers } from './peers.ts';
import { keep, printed, writeReport } from './report.ts';
import { say } from './rounds.ts';
import { openStage } from './stage.ts';

const PARTS: Record<string, Part> = {
  gateways,
  offered,
  features,
  growth,
  coldstart,
  document,
  soak,
  workers,
  subgraph,
  profile,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    node: { type: 'string' },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    minutes: { type: 'string' },
    connections: { type: 'string' },
  },
});

const { quick } = values;
const seconds = Number(values.seconds ?? (quick ? 2 : 10));
const options: Options = {
  quick,
  seconds,
  warmUpSeconds: Math.min(10, seconds),
  rounds: Number(values.rounds ?? 3),
  connections: Number(values.connections ?? 32),
  minutes: Number(values.minutes ?? (quick ? 0.5 : 10)),
};

const names =
  positionals.length === 0
    ? ['gateways']
    : positionals.includes('all')
      ? Object.keys(PARTS)
      : positionals;
const unknown = names.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  say(`no such part: ${unknown.join(', ')}. There are: all, ${Object.keys(PARTS).join(', ')}.`);
  process.exit(1);
}

installPeers();
stepAside();
const majors = values.node?.split(',').map(Number);
const versions = nodeVersions().filter(
  ({ major }) => majors === undefined || majors.includes(major),
);

const [load = 0] = loadavg();
if (load > 0.5)
  say(
    `Other work keeps this machine busy (load ${load.toFixed(1)}): ratios will be off, and the rest even more.`,
  );

for (const node of versions) {
  for (const name of names) {
    const part = PARTS[name];
    if (part === undefined) continue;
    say(`${part.title}, Node ${node.version}`);
    const stage = openStage(node);
    try {
      const outcome = await part.run(stage, options);
      console.log(
        `\n${part.title}, Node ${node.version}, ${describeMachine()}\n\n${printed(outcome)}\n`,
      );
      // A quick run is for a look; what is kept took its time.
      if (!quick) keep({ part: name, title: part.title, ...about(part, node.version), ...outcome });
    } finally {
      await stage.close();
    }
  }
}
if (!quick) writeReport(Object.keys(PARTS));

function about({ how = inRounds }: Part, node: string) {
  const command = [
    'npm run bench',
    ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : []),
  ].join(' ');
  const date = new Date().toISOString().slice(0, 10);
  return {
    node,
    date,
    command,
    machine: describeMachine(),
    versions: `${how(options)}. ${peerVersions().join(', ')}`,
  };
}

function inRounds({ rounds, seconds, warmUpSeconds }: Options): string {
  return `Load by ${GENERATOR}, ${rounds} rounds of ${seconds} s after ${warmUpSeconds} s of warm-up`;
}

function peerVersions(): string[] {
  return ['.', 'peers/mercurius', 'peers/hive'].flatMap((folder) => {
    const { dependencies } = JSON.parse(
      readFileSync(join(import.meta.dirname, folder, 'package.json'), 'utf8'),
    );
    return Object.entries(dependencies).map(([name, version]) => `${name} ${version}`);
  });
}
