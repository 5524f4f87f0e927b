// What an app learns of a member (OpenID Connect Core, section 5.1).
import type { Client } from 'oidc-provider';
import { profileOf } from '../resolvers/profile.ts';
import { canonicalEmail } from '../rules/email.ts';
import type { Member } from '../rules/member.ts';
import { isConfirmed, type MemberRecord } from '../rules/record.ts';

type View = Pick<Client, 'partner_id' | 'is_first_party'>;

/** The claims by scope. */
export const CLAIMS = {
  openid: ['sub', 'sid', 'partner_id', 'first_party_of'],
  email: ['email', 'email_verified'],
  profile: ['name', 'given_name', 'family_name'],
};
export const SCOPES = ['openid', 'profile', 'email', 'offline_access'];

/** A partner's app sees what its partner sees. `sid` is that of the tokens. */
export function claimsOf(member: Member, client: View, sid: string | undefined) {
  const partnerId = partnerOf(client);
  const { email, firstName, lastName } = profileOf(member, partnerId);
  const name = [firstName, lastName].filter((part) => part !== undefined).join(' ');
  // A partner may have written it in another way. Cast: the store reads members as records.
  const isCurrent =
    canonicalEmail(email) === canonicalEmail(member.email) && isConfirmed(member as MemberRecord);
  return {
    sub: member.memberId,
    email,
    email_verified: isCurrent,
    ...(name !== '' && { name }),
    ...(firstName !== undefined && { given_name: firstName }),
    ...(lastName !== undefined && { family_name: lastName }),
    ...(sid !== undefined && { sid }),
    ...holderOf(client),
  };
}

/** Whose app it is, by which the gateway refuses the tokens of suspended partners. */
export function holderOf({ partner_id, is_first_party }: View) {
  return is_first_party ? { first_party_of: partner_id } : { partner_id };
}

/** The partner whose view the app has; undefined for one that sees all. */
export function partnerOf({ partner_id, is_first_party }: View): string | undefined {
  return is_first_party ? undefined : partner_id;
}
