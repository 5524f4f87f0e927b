// Leaves out changes that other changes imply, so that each part of a schema is reported once.
import { type Change, ChangeType } from '@graphql-inspector/core';

/** Parts of what is added come with it. */
const ADDED = new Set<string>([
  ChangeType.TypeAdded,
  ChangeType.FieldAdded,
  ChangeType.FieldArgumentAdded,
  ChangeType.InputFieldAdded,
  ChangeType.EnumValueAdded,
]);
const DEPRECATED = '.@deprecated';

/**
 * The changes without those of parts of what is added, and with one for each deprecation. The
 * inspector's own rule takes a new description or interface for an addition too, and then hides
 * breaking changes beside it.
 */
export function simplify(changes: readonly Change[]): Change[] {
  const added = new Set(changes.flatMap(({ type, path }) => (ADDED.has(type) && path ? path : [])));
  const deprecated = new Set<string>();
  return changes.filter(({ type, path = '' }) => {
    if (ancestorsOf(path).some((ancestor) => added.has(ancestor))) return false;
    if (added.has(path) && !ADDED.has(type)) return false;
    const end = path.indexOf(DEPRECATED);
    if (end === -1) return true;
    const owner = path.slice(0, end);
    const isFirst = !deprecated.has(owner);
    deprecated.add(owner);
    return isFirst;
  });
}

/** `T.f.a` has `T` and `T.f`. */
function ancestorsOf(path: string): string[] {
  const parts = path.split('.');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'));
}
