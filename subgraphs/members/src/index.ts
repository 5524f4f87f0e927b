// The public list of the members subgraph.
export { createMembers, startMembers } from './members.ts';
export type { MailPartner } from './partners/partner.ts';
export { LENGTHS, parseAddress, parseOptionalText, parseText } from './resolvers/input.ts';
export type { MembersOptions } from './resolvers/resolvers.ts';
export { canonicalEmail } from './rules/email.ts';
export type {
  Address,
  EnrollInput,
  Enrollment,
  EnrollResult,
  Identity,
  ImportResult,
  Member,
  MemberImport,
} from './rules/member.ts';
export { endingSessions } from './sessions/endedsessions.ts';
export { type IdToken, type IdTokenClaims, issueIdToken } from './signingkeys/idtoken.ts';
export { ensureSigningKey, revokeSigningKey, rotateSigningKey } from './signingkeys/signingkey.ts';
export { openMembersStore } from './store/store.open.ts';
export type { MembersStore } from './store/store.ts';
export { verifyMembers } from './verify/verify.open.ts';
