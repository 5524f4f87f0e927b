// Checks the keys of memberLookups.
import type { MemberKey } from '../rules/member.ts';
import { failInput, LENGTHS, parseLookupAddress, parseText } from './input.ts';
import type { MemberKey as MemberKeyInput } from './schema.generated.ts';

/** Of one field. */
export const MAX_KEYS = 100;

/** Fails with BAD_USER_INPUT unless there are 1 to 100 keys, each of exactly one kind. */
export function parseKeys(argument: string, keys: readonly MemberKeyInput[]): MemberKey[] {
  if (keys.length === 0 || keys.length > MAX_KEYS)
    failInput(argument, `must have 1 to ${MAX_KEYS} items`);
  return keys.map((key, index) => parseKey(`${argument}.${index}`, key));
}

function parseKey(argument: string, { email, externalId, memberId }: MemberKeyInput): MemberKey {
  const given = [email, externalId, memberId].filter((one) => one !== undefined && one !== null);
  if (given.length !== 1)
    return failInput(argument, 'must have exactly one of email, externalId, memberId');
  if (email !== undefined && email !== null)
    return { by: 'email', value: parseLookupAddress(`${argument}.email`, email) };
  return externalId !== undefined && externalId !== null
    ? {
        by: 'externalId',
        value: parseText(`${argument}.externalId`, externalId, LENGTHS.externalId),
      }
    : { by: 'memberId', value: parseText(`${argument}.memberId`, memberId ?? '', LENGTHS.id) };
}
