// The offers and who may see them: a partner its own, a member those of the member's partners.
import { readFileSync } from 'node:fs';
import { GraphQLError } from 'graphql';
import type { Scope } from './signature.ts';

export type Context = { scope: Scope };

type Offer = { offerId: string; partnerId: string; title: string; endsAt: string };
type Profile = { memberId: string; activePartnerIds: string[] };

const DAY_MS = 24 * 60 * 60 * 1000;
const startedAt = Date.now();
const file = readFileSync(new URL('offers.json', import.meta.url), 'utf8');
const offers: Offer[] = JSON.parse(file).map(
  ({ endsInDays, ...offer }: Omit<Offer, 'endsAt'> & { endsInDays: number }) => ({
    ...offer,
    endsAt: new Date(startedAt + endsInDays * DAY_MS).toISOString(),
  }),
);

export const resolvers = {
  Query: {
    offer(_: unknown, { offerId }: { offerId: string }, { scope }: Context): Offer | undefined {
      const own = offersOf([callingPartner(scope)]);
      const offer = own.find((candidate) => candidate.offerId === offerId);
      if (offer && !isCurrent(offer))
        throw new GraphQLError('the offer has ended', { extensions: { code: 'OFFER_EXPIRED' } });
      return offer;
    },
  },
  PartnerMemberRead: {
    __resolveReference: (reference: { memberId: string }) => reference,
    offers: (_member: unknown, _arguments: unknown, { scope }: Context): Offer[] =>
      offersOf([callingPartner(scope)]).filter(isCurrent),
  },
  MemberProfile: {
    __resolveReference: (reference: Profile) => reference,
    offers: (profile: Profile, _: unknown, { scope }: Context): Offer[] =>
      offersOf(visiblePartners(profile, scope)).filter(isCurrent),
  },
};

function callingPartner({ kind, partner }: Scope): string {
  if (kind !== 'partner' || partner === undefined) throw new Error('the caller is no partner');
  return partner;
}

/** The member's partners; only the partner that holds the member's token, if one does. */
function visiblePartners({ memberId, activePartnerIds }: Profile, scope: Scope): string[] {
  if (scope.kind !== 'member' || scope.member !== memberId)
    throw new Error('the caller is not this member');
  const { partner } = scope;
  return partner === undefined ? activePartnerIds : activePartnerIds.filter((id) => id === partner);
}

function offersOf(partnerIds: readonly string[]): Offer[] {
  return offers.filter(({ partnerId }) => partnerIds.includes(partnerId));
}

function isCurrent({ endsAt }: Offer): boolean {
  return Date.parse(endsAt) > Date.now();
}
