// Which mutations may be sent again if it is unknown whether the first one arrived.
import type { SCHEMA as MEMBER } from './generated/member.generated.ts';
import type { SCHEMA as PARTNER } from './generated/partner.generated.ts';

/**
 * Every mutation of the schema has a row, or this file does not compile: true if running it twice
 * has the effect of running it once.
 */
export const PARTNER_MUTATIONS: Readonly<Record<keyof typeof PARTNER.Mutation, boolean>> = {
  enrollMember: true,
  // An activity is counted once for its ID.
  recordActivities: true,
  endEnrollment: true,
  changeExternalId: true,
  // These send a mail each time.
  inviteMember: false,
  requestMagicLink: false,
  // A token works once: a second call fails even if the first one signed the member in.
  exchangeMagicLink: false,
};

export const MEMBER_MUTATIONS: Readonly<Record<keyof typeof MEMBER.Mutation, boolean>> = {
  requestEmailChange: false,
  confirmEmailChange: false,
};
