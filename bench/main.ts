// `npm run bench`: measures parts of the benchmark on each Node version, or compares two commits.
import { loadavg } from 'node:os';
import {
  describeMachine,
  leaveTargetCore,
  type NodeVersion,
  nodeVersions,
} from './machine/machine.ts';
import { readCommandLine } from './options.ts';
import type { Part } from './parts/part.ts';
import { PARTS, selectParts } from './parts.ts';
import { installPeers, installTools, peerVersions } from './peers/install.ts';
import { aligned, printed, writeReport } from './report/report.ts';
import { record, recordedOf } from './report/results.ts';
import { checkOut } from './run/checkout.ts';
import { compare, comparisonTable, isLower } from './run/compare.ts';
import { progress } from './run/progress.ts';
import { inTurns } from './run/rounds.ts';
import { openTestbed, type Testbed } from './run/testbed.ts';

type Use = (part: Part, node: NodeVersion, testbed: Testbed, name: string) => Promise<void>;

// A load average above this disturbs the measurements.
const MAX_LOAD = 0.5;

const args = process.argv.slice(2);
const { names, majors, against, options } = readCommandLine(args);

if (names[0] === 'report') writeReport(PARTS);
else if (against === undefined) await measureParts();
else await compareWith(against);

async function measureParts(): Promise<void> {
  const parts = selectParts(names);
  await installPeers();
  await onEachVersion(parts, async (part, node, testbed, name) => {
    const outcome = await part.run(testbed, options);
    const run = { part: name, ...describeRun(part, node) };
    printUnder(part, node, printed(outcome, part, recordedOf(run)));
    if (!options.quick) record({ ...run, ...outcome });
  });
  if (!options.quick) writeReport(PARTS);
}

async function compareWith(commit: string): Promise<void> {
  const parts = selectParts(names, ({ comparables }) => comparables !== undefined);
  await installTools();
  const checkout = checkOut(commit);
  const lower: string[] = [];
  try {
    await onEachVersion(parts, async (part, node, testbed) => {
      const comparisons = await compare(testbed, part.comparables ?? [], checkout, options);
      printUnder(part, node, aligned(comparisonTable(comparisons, checkout)));
      const found = comparisons.filter(isLower);
      lower.push(...found.map(({ title }) => `${title}, Node ${node.version}`));
    });
  } finally {
    checkout.close();
  }
  if (lower.length === 0) return;
  progress(`over 5 % lower than ${checkout.name}:\n${lower.join('\n')}`);
  process.exitCode = 1;
}

async function onEachVersion(parts: readonly [string, Part][], use: Use): Promise<void> {
  leaveTargetCore();
  const [load = 0] = loadavg();
  if (load > MAX_LOAD)
    progress(`this machine is busy (load ${load.toFixed(1)}): do not trust the figures`);
  const versions = nodeVersions().filter(({ major }) => majors?.includes(major) ?? true);
  for (const node of versions) {
    for (const [name, part] of parts) {
      progress(`${part.title}, Node ${node.version}`);
      const testbed = openTestbed(node);
      try {
        await use(part, node, testbed, name);
      } catch (error) {
        // The others are measured all the same.
        console.error(error);
        process.exitCode = 1;
      } finally {
        await testbed.close();
      }
    }
  }
}

function printUnder({ title }: Part, { version }: NodeVersion, text: string): void {
  console.log(`\n${title}, Node ${version}, ${describeMachine()}\n\n${text}\n`);
}

function describeRun({ method = inTurns }: Part, node: NodeVersion) {
  return {
    node: node.version,
    date: new Date().toISOString().slice(0, 10),
    command: ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' '),
    machine: describeMachine(),
    versions: `${method(options)}. ${peerVersions().join(', ')}`,
  };
}
