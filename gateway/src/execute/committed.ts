// The surfaces of the committed graph, which no process needs to ask the planner thread for.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SURFACES, type SurfaceName } from '../schema/surfaces.ts';
import { factsOf, graphAsSeen, type SurfaceFacts } from './facts.ts';
import { openThreadPlanner } from './plan.apollo.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The facts of a surface. Undefined if the supergraph is not the committed one. */
export function committedFacts(supergraph: string, surface: SurfaceName): SurfaceFacts | undefined {
  const text = read(surface);
  const head = headOf(supergraph, surface);
  if (!text?.startsWith(head)) return undefined;
  return factsOf(graphAsSeen(supergraph, surface), text.slice(head.length).trim());
}

/**
 * The text of `surface.*.graphql` for a supergraph: what callers of the surface see. Asks the
 * planner thread.
 */
export async function surfaceText(supergraph: string, surface: SurfaceName): Promise<string> {
  const { sdl, close } = await openThreadPlanner(supergraph, surface);
  close();
  return `${headOf(supergraph, surface)}\n${sdl}\n`;
}

/** Undefined while `npm run generate` has not written the file. */
function read(surface: SurfaceName): string | undefined {
  try {
    return readFileSync(join(ROOT, `surface.${surface}.graphql`), 'utf8');
  } catch {
    return undefined;
  }
}

function headOf(supergraph: string, surface: SurfaceName): string {
  return `# The schema behind ${SURFACES[surface]}. Generated from the subgraphs' schemas by \`npm run generate\`.
# The SHA-256 of the supergraph: ${hash('sha256', supergraph, 'hex')}
`;
}
