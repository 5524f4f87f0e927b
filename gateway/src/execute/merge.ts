// Merges what subgraphs answer into the data of a run, and what its places share once.
import { isJsonObject } from '@partner-loyalty/runtime/input.ts';
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import type { Pace } from './pace.ts';

export type Data = Record<string, unknown>;

/** Objects and lists that are at several places of the data, since these asked for the same. */
export type Sharing = {
  shared?: Set<unknown>;
  /** How often a place has got its own copy of one. */
  copies?: number;
  pace?: Pace;
};

/** Of a field that is put into a place: objects with many become slow. */
const WORK_OF_FIELD = 20;

/** Merges an entity into the objects that stand for it. What becomes equal in them, they share. */
export function mergeIntoAll(
  targets: readonly Data[],
  entity: Data,
  sharing: Sharing & { pace: Pace },
): MaybePromise<void> {
  share(entity, sharing);
  return sharing.pace.each(Object.entries(entity), ([name, value]) => {
    sharing.pace.work(WORK_OF_FIELD * targets.length);
    const merged = new Map<unknown, unknown>();
    for (const target of targets) {
      const present = Object.hasOwn(target, name) ? target[name] : undefined;
      if (typeof (present ?? {}) !== 'object') continue; // It stays.
      const own = merged.get(present);
      if (own === undefined) merge(target, { [name]: value }, sharing);
      else put(target, name, own);
      if (typeof own === 'object' && own !== null) addShared(own, sharing);
      merged.set(present, target[name]);
    }
  });
}

/**
 * Merges a response. A value that is there stays: no subgraph answers for another one. What places
 * share stays as it is, too: they get copies of their own.
 */
export function merge(target: Data, source: Data, sharing: Sharing = {}): void {
  const names = Object.keys(source);
  sharing.pace?.work(names.length);
  for (const name of names) {
    const value = source[name];
    if (value === undefined) continue;
    const present = Object.hasOwn(target, name) ? target[name] : undefined;
    if (present === undefined || present === null) put(target, name, value);
    else if (typeof value === 'object' && isMerged(present, value)) {
      const own = ownOf(present, sharing);
      if (own !== present) put(target, name, own);
      mergeValue(own, value, sharing);
    }
  }
}

function isMerged(present: unknown, value: unknown): boolean {
  return isJsonObject(present)
    ? isJsonObject(value)
    : Array.isArray(present) && Array.isArray(value) && present.length === value.length;
}

function mergeValue(target: unknown, source: unknown, sharing: Sharing): void {
  if (!Array.isArray(target) || !Array.isArray(source)) {
    merge(target as Data, source as Data, sharing); // Cast: isMerged has found out.
    return;
  }
  sharing.pace?.work(source.length);
  for (const [index, value] of source.entries()) {
    const present: unknown = target[index];
    if (isMerged(present, value)) {
      target[index] = ownOf(present, sharing);
      mergeValue(target[index], value, sharing);
    } else target[index] = present ?? value;
  }
}

// Callers choose response names, so `__proto__` has to become a property like any other.
function put(target: Data, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(target, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  else target[name] = value;
}

/** Notes what several places get of an entity. */
function share(entity: object, sharing: Sharing): void {
  for (const value of Object.values(entity)) {
    if (typeof value === 'object' && value !== null) addShared(value, sharing);
  }
}

function addShared(value: object, sharing: Sharing): void {
  sharing.shared ??= new Set();
  sharing.shared.add(value);
}

function ownOf(value: unknown, sharing: Sharing): unknown {
  if (!sharing.shared?.has(value)) return value;
  const copy = Array.isArray(value) ? [...value] : { ...(value as Data) }; // Cast: it was merged.
  sharing.pace?.work(Object.keys(copy).length);
  share(copy, sharing);
  sharing.copies = (sharing.copies ?? 0) + 1;
  return copy;
}
