// The formats of the stores, and the rule that a process opens only those that it knows.
import type { Environment } from '../environment.ts';
import type { StoreName } from './private.ts';

/**
 * The format that this version writes, by store. A new number is due whenever an older version
 * could misread or damage what this one writes, and for every change of a validator on MongoDB.
 */
export const FORMATS: Readonly<Record<StoreName, number>> = {
  // 2: marks of erased members, which imports heed.
  members: 2,
  // 2: an index by member on LMDB; on MongoDB, activities in a collection of their own.
  // 3: an activity's ID is unique within its partner only.
  standings: 3,
  graph: 1,
  usage: 1,
  // 2: keys have scopes and addresses, and partners can be suspended.
  keys: 2,
};

/** What a store has said about itself. Stores of format 1 have no number. */
export type Ownership = { environment: string; formatVersion?: number | undefined };

export function ownershipOf(store: StoreName, environment: Environment): Ownership {
  const formatVersion = FORMATS[store];
  return { environment: markedEnvironment(environment, formatVersion), formatVersion };
}

/**
 * How a store names its environment. Versions that know no formats compare this with their own
 * environment, so from format 2 on they refuse the store, and name the reason.
 */
export function markedEnvironment(environment: Environment, format: number): string {
  return format === 1 ? environment : `${environment} (format ${format})`;
}

/** The environment that a store names. */
export function environmentOf({ environment }: Ownership): string {
  return environment.split(' ', 1)[0] ?? environment;
}

/** The format of a store. Throws if it is newer than this version knows. */
export function readableFormat(store: StoreName, { formatVersion = 1 }: Ownership): number {
  const known = FORMATS[store];
  if (formatVersion > known)
    throw new Error(
      `the ${store} store has format ${formatVersion}; this version knows format ${known} and cannot open it`,
    );
  return formatVersion;
}
