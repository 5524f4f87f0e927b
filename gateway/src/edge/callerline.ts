// What a request's line says of the caller, written once while it is remembered.
import { jsonFields } from '@partner-loyalty/runtime/observe/log.ts';
import { LRUCache } from 'lru-cache';
import { type Principal, partnerIdOf } from '../identity/authenticate.ts';

/** Callers, or lists of codes, whose part of the line is remembered. */
const MAX_REMEMBERED = 10_000;

/** What a line says of the caller. A member's ID is personal, so it is left out. */
export function fieldsOf({ surface, caller, id }: Principal) {
  return {
    partner: partnerIdOf({ caller }),
    keyId: surface === 'partner' ? id : undefined,
    surface,
  };
}

export function createDescribeCaller(): (principal: Principal) => string {
  const remembered = rememberFields();
  return (principal) => {
    const fields = fieldsOf(principal);
    // No two callers have the same one: IDs of keys begin in another way than those of partners.
    return remembered(fields.keyId ?? `/${fields.partner ?? ''}`, fields);
  };
}

/** Returns a function that writes fields as JSON, once for each subject while it is remembered. */
export function rememberFields(): (
  subject: string,
  fields: Parameters<typeof jsonFields>[0],
) => string {
  const known = new LRUCache<string, string, Parameters<typeof jsonFields>[0]>({
    max: MAX_REMEMBERED,
    memoMethod: (_subject, _stale, { context }) => jsonFields(context),
  });
  return (subject, fields) => known.memo(subject, { context: fields });
}
