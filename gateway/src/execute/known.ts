// What the planner thread reports about the committed graph, so that no process needs to ask it.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SURFACES, type SurfaceName } from '../schema/surfaces.ts';
import type { OpenedPlanner } from './messages.ts';
import { openThreadPlanner } from './plan.apollo.ts';

/** Written by `npm run generate`. */
export const KNOWN_FILE = join(import.meta.dirname, '../../supergraph.known.json');

type Known = { supergraph: string; surfaces: Readonly<Record<string, OpenedPlanner>> };

/**
 * What the planner thread would report about a surface. Undefined if the supergraph is not the
 * committed one.
 */
export function knownPlanner(
  supergraph: string,
  surface: SurfaceName | undefined,
): OpenedPlanner | undefined {
  if (surface === undefined) return undefined;
  const known = read();
  return known?.supergraph === hashOf(supergraph) ? known.surfaces[surface] : undefined;
}

/** The text of the file for a supergraph. Asks the planner thread. */
export async function knownOf(supergraph: string): Promise<string> {
  const surfaces: Record<string, OpenedPlanner> = {};
  // Cast: Object.keys knows no key types.
  for (const surface of Object.keys(SURFACES) as SurfaceName[]) {
    const { close, plan: _plan, ...opened } = await openThreadPlanner(supergraph, surface);
    surfaces[surface] = opened;
    close();
  }
  const known: Known = { supergraph: hashOf(supergraph), surfaces };
  return `${JSON.stringify(known, (_, value) => written(value), 1)}\n`;
}

/** Undefined while `npm run generate` has not written the file. */
function read(): Known | undefined {
  try {
    // Cast: knownText wrote it.
    return JSON.parse(readFileSync(KNOWN_FILE, 'utf8'), (_, value) => revived(value)) as Known;
  } catch {
    return undefined;
  }
}

function hashOf(supergraph: string): string {
  return hash('sha256', supergraph, 'hex');
}

// JSON has neither maps nor sets.

function written(value: unknown): unknown {
  if (value instanceof Map) return { map: [...value] };
  return value instanceof Set ? { set: [...value] } : value;
}

function revived(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 1) return value;
  if ('map' in value && Array.isArray(value.map)) return new Map(value.map);
  return 'set' in value && Array.isArray(value.set) ? new Set(value.set) : value;
}
