// Resolvers that look up members: identify the caller, check the arguments, read the store.
import { ApiError, fail, failInput } from '@partner-loyalty/runtime/errors.ts';
import { textFault, visibleName } from '@partner-loyalty/runtime/input.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import type { MemberKey, Profile } from '../rules/member.ts';
import { shownName } from '../rules/names.ts';
import type { MembersStore } from '../store/store.ts';
import {
  LENGTHS,
  lookUpAddress,
  memberOf,
  parseLookupAddress,
  parseText,
  partnerOf,
  requireService,
} from './input.ts';
import { profileOf } from './profile.ts';
import type { MemberKey as MemberKeyInput, Resolvers } from './schema.generated.ts';

/** Look-ups are synchronous if the store's are. */
export function createLookups(
  store: Pick<
    MembersStore,
    'memberByEmail' | 'memberByExternalId' | 'memberById' | 'lookUp' | 'member' | 'partners'
  >,
) {
  const ownProfile = (id: string, caller: Caller): MaybePromise<Profile> => {
    const own = memberOf(caller);
    if (parseText('id', id, LENGTHS.id) !== own.memberId) fail('MEMBER_NOT_FOUND');
    return mapMaybe(store.member(own.memberId), (member) =>
      profileOf(found(member), own.partnerId),
    );
  };

  return {
    Query: {
      memberByEmail(_, { email }, { caller }) {
        const partnerId = partnerOf(caller);
        const { canonical } = parseLookupAddress('email', email);
        return mapMaybe(store.memberByEmail(partnerId, canonical), orNotFound);
      },
      memberByExternalId(_, args, { caller }) {
        const partnerId = partnerOf(caller);
        const externalId = parseText('externalId', args.externalId, LENGTHS.externalId);
        return mapMaybe(store.memberByExternalId(partnerId, externalId), orNotFound);
      },
      memberById(_, args, { caller }) {
        const partnerId = partnerOf(caller);
        const memberId = parseText('memberId', args.memberId, LENGTHS.id);
        return mapMaybe(store.memberById(partnerId, memberId), orNotFound);
      },
      node(_, { id }, { caller }) {
        const partnerId = partnerOf(caller);
        return store.memberById(partnerId, parseText('id', id, LENGTHS.id));
      },
      memberLookups(_, { keys }, { caller }) {
        const partnerId = partnerOf(caller);
        if (keys.length === 0 || keys.length > MAX_KEYS)
          failInput('keys', `must have 1 to ${MAX_KEYS} items`);
        const parsed = keys.map(parseKey);
        const valid = parsed.filter((key) => key !== undefined);
        return mapMaybe(store.lookUp(partnerId, valid), (found) => {
          const lookUps = found.values();
          return parsed.map((key) => (key && lookUps.next().value) ?? { status: 'INVALID' });
        });
      },
      memberProfile: (_, { id }, { caller }) => ownProfile(id, caller),
      everEnrolled(_, { partnerId, memberIds }, { caller }) {
        requireService(caller);
        if (memberIds.length > MAX_KEYS) fail('BAD_USER_INPUT');
        const keys = memberIds.map((value): MemberKey => ({ by: 'memberId', value }));
        return mapMaybe(store.lookUp(partnerId, keys), (found) =>
          memberIds.filter((_, index) => ['FOUND', 'ENDED'].includes(found[index]?.status ?? '')),
        );
      },
    },
    Node: { __resolveType: () => 'PartnerMemberRead' },
    PartnerMemberRead: {
      id: ({ memberId }) => memberId,
      firstName: ({ firstName }) => shownName(firstName),
      lastName: ({ lastName }) => shownName(lastName),
      externalId: ({ enrollment }) => enrollment.externalId,
      enrolledAt: ({ enrollment: { enrolledAt } }) =>
        enrolledAt === undefined ? undefined : new Date(enrolledAt),
    },
    Event: {
      __resolveReference: ({ id, memberId }) => ({ id, memberId }),
      member({ memberId }, _, { caller }) {
        if (memberId === null || memberId === undefined) return undefined;
        const found = store.lookUp(partnerOf(caller), [{ by: 'memberId', value: memberId }]);
        return mapMaybe(found, ([lookUp]) => lookUp?.member);
      },
    },
    Standing: {
      __resolveReference: ({ partnerId }, { caller }) => {
        const own = 'partnerId' in caller ? caller.partnerId : undefined;
        if (caller.kind === 'service' || (own !== undefined && own !== partnerId))
          return fail('INTERNAL_SERVER_ERROR');
        return mapMaybe(store.partners.get(partnerId), (partner) => ({
          partnerId,
          partnerName: visibleName(partner?.name ?? partnerId),
        }));
      },
    },
    MemberProfile: {
      __resolveReference: ({ memberId }, { caller }) => ownProfile(memberId, caller),
    },
  } satisfies Resolvers;
}

/** One for all look-ups that find nobody: making an error costs more than the read. */
const NOT_FOUND = new ApiError('MEMBER_NOT_FOUND');

function found<T>(member: T | undefined): T {
  if (member === undefined) throw NOT_FOUND;
  return member;
}

/** For resolvers: executors treat a returned error like a thrown one, and it costs less. */
function orNotFound<T>(member: T | undefined): T {
  // Cast: the generated types of resolvers leave errors out.
  return member ?? (NOT_FOUND as never);
}

/** The maximum of one field. */
const MAX_KEYS = 100;

/** Undefined if it is not valid: one key of a batch does not fail the others. */
function parseKey(key: MemberKeyInput): MemberKey | undefined {
  const [given, ...others] = KINDS.filter((by) => key[by] !== undefined && key[by] !== null);
  if (given === undefined || others.length > 0) return undefined;
  const text = key[given] ?? '';
  if (textFault(text, LENGTHS[given]) !== undefined) return undefined;
  const value = text.trim();
  return { by: given, value: given === 'email' ? lookUpAddress(value).canonical : value };
}

const KINDS = ['email', 'externalId', 'memberId'] as const;
