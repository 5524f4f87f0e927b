// Whose a store is: it names its environment and its format, and is opened by nobody else.
import type { Environment } from '../environment.ts';
import type { StoreName } from './private.ts';

/**
 * The format that this version writes, by store. A new number is due whenever an older version
 * could misread or damage what this one writes.
 */
const FORMATS: Readonly<Record<StoreName, number>> = {
  members: 2,
  standings: 2,
  graph: 2,
  usage: 2,
  keys: 2,
};

/** What a store has said about itself. */
export type Ownership = { environment: string; formatVersion?: number | undefined };

export function ownershipOf(store: StoreName, environment: Environment): Ownership {
  return { environment, formatVersion: FORMATS[store] };
}

/**
 * Throws if the store belongs to the other environment, or has another format. Format 1 was never
 * released.
 */
export function refuseOwner(store: StoreName, owner: Ownership, environment: Environment): void {
  if (owner.environment !== environment)
    throw new Error(
      `the ${store} store belongs to the ${owner.environment} environment; it cannot be opened as ${environment}`,
    );
  const { formatVersion = 1 } = owner;
  const known = FORMATS[store];
  if (formatVersion !== known)
    throw new Error(
      `the ${store} store has format ${formatVersion}; this version knows format ${known} and cannot open it`,
    );
}
