// Errors of subgraphs, at their places in the data of a run.
import type { SubgraphError, SubgraphResponse } from '@partner-loyalty/runtime/transport/types.ts';
import { rootsOf } from './roots.ts';

/** A path, as a list linked from its end. */
export type Steps = { before: Steps; step: string | number } | undefined;

/** An error with its path in the data. */
export type PlacedError = SubgraphError & {
  /** Whose error it is; undefined if it is the gateway's own. */
  subgraph?: string | undefined;
  /** The root fields that an error without a path can be about; undefined if all are possible. */
  roots?: readonly string[] | undefined;
  /** Set if the gateway has found the fault, which nobody has logged. */
  isMasked?: boolean | undefined;
  /**
   * Set if the subgraph returned null for a whole entity because of it: the length of the entity's
   * path, with which the error's begins. Every other field of the entity is missing, too.
   */
  entityDepth?: number | undefined;
};

export function pathOf(steps: Steps): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at = steps; at !== undefined; at = at.before) path.unshift(at.step);
  return path;
}

/** How many errors a fetch has at most: a list may have many thousands. */
const MAX_ERRORS_OF_FETCH = 1_000;
const MAX_ERRORS = 2_000;

/**
 * Adds the errors of a fetch from `subgraph` with their paths in the data. If it is one of
 * entities, `source` are the places of each representation: an entity's errors get its paths, and
 * an error without a path gets the paths of all, up to 100. Otherwise, `source` is its operation,
 * if it has one: an error without a path is about no other root fields.
 */
export function addErrors(
  to: PlacedError[],
  { data, errors = [] }: { data?: SubgraphResponse['data']; errors?: readonly PlacedError[] },
  source: (() => readonly (readonly Steps[])[]) | string | undefined,
  subgraph?: string,
): void {
  if (errors.length === 0 || to.length >= MAX_ERRORS) return;
  const room = Math.min(to.length + MAX_ERRORS_OF_FETCH, MAX_ERRORS);
  const places = typeof source === 'function' ? source() : undefined;
  const isPathless = ({ path }: PlacedError) => path === undefined;
  const roots = typeof source === 'string' && errors.some(isPathless) ? rootsOf(source) : undefined;
  for (const error of errors)
    for (const placed of placedErrors(error, places, data?._entities)) {
      if (to.length >= room) return;
      to.push({ ...placed, subgraph, ...(isPathless(placed) && { roots }) });
    }
}

function placedErrors(
  error: PlacedError,
  places: readonly (readonly Steps[])[] | undefined,
  entities: unknown,
): PlacedError[] {
  if (places === undefined) return [error];
  const index = error.path?.[1];
  const own = typeof index === 'number' ? places[index] : undefined;
  if (typeof index !== 'number' || own === undefined)
    return places
      .flat()
      .slice(0, 100)
      .map((steps) => ({ ...error, path: pathOf(steps) }));
  const isNull = Array.isArray(entities) && entities[index] === null;
  return own.slice(0, MAX_ERRORS_OF_FETCH).map((steps) => {
    const entity = pathOf(steps);
    const path = [...entity, ...(error.path?.slice(2) ?? [])];
    return { ...error, path, ...(isNull && { entityDepth: entity.length }) };
  });
}

type Path = readonly (string | number)[];

/**
 * An error with its paths in the response: one about a field that the caller selects under several
 * aliases is about each of them.
 */
export function inResponse(error: PlacedError, pathsOf: (path: Path) => Path[]): PlacedError[] {
  if (error.path !== undefined) return pathsOf(error.path).map((path) => ({ ...error, path }));
  return [{ ...error, roots: error.roots?.flatMap((name) => pathsOf([name]).flat().map(String)) }];
}
