// All resolvers of the subgraph.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { DATE_TIME } from '@partner-loyalty/runtime/subgraph/resolvers.ts';
import type { Inbox } from '../mail/inbox.ts';
import type { IdentityProvider } from '../ports.ts';
import type { EventStore } from '../store/eventstore.ts';
import type { MembersStore } from '../store/store.ts';
import { createEmailChange } from './emailchange.ts';
import { createEnrollment } from './enrollment.ts';
import { parseLookupAddress, partnerOf, requireService } from './input.ts';
import { createInvitations } from './invitation.ts';
import { createList } from './list.ts';
import { createLookups } from './lookups.ts';
import { createMagicLink } from './magiclink.ts';
import { createEnqueueMail, createMailStaff } from './mail.ts';
import { createProfile } from './profile.ts';
import { createProviderResolvers } from './provider.ts';
import type { Resolvers, SubgraphResolvers } from './schema.generated.ts';

/** Without a provider, nobody signs in, and there are no apps. */
export type MembersOptions = Partial<IdentityProvider> & {
  /** The environment's base address: the issuer and the audience of ID tokens. */
  baseAddress: string;
  /** Called when there is mail to send. */
  wake(): void;
  /** Undefined in production. */
  inbox?: Inbox | undefined;
};

export function createResolvers(
  store: MembersStore,
  { baseAddress, wake, inbox, ...parts }: MembersOptions,
): SubgraphResolvers {
  const enqueueMail = createEnqueueMail(store, wake);
  const lookups = createLookups(store);
  const enrollment = createEnrollment(store);
  const magicLink = createMagicLink(store, baseAddress, enqueueMail);
  const emailChange = createEmailChange(store, baseAddress, enqueueMail);
  const invitations = createInvitations(store, enqueueMail);
  const events = createEvents(store.events);
  const provider = createProviderResolvers(store, parts);
  const profile = createProfile(store);
  const mailStaff = createMailStaff(enqueueMail);
  return {
    Query: {
      ...lookups.Query,
      ...createList(store).Query,
      ...magicLink.Query,
      ...invitations.Query,
      ...events.Query,
      ...provider.Query,
      sandboxMails(_, { email }, { caller }) {
        const partnerId = partnerOf(caller);
        return (inbox ?? fail('FORBIDDEN')).list(
          partnerId,
          parseLookupAddress('email', email).canonical,
        );
      },
    },
    Mutation: {
      ...enrollment.Mutation,
      ...invitations.Mutation,
      ...magicLink.Mutation,
      ...emailChange.Mutation,
      ...profile.Mutation,
      ...events.Mutation,
      ...provider.Mutation,
      async mailStaff(_, { notice }, { caller }) {
        requireService(caller);
        await mailStaff(JSON.parse(notice));
        return true;
      },
    },
    Node: lookups.Node,
    PartnerMemberRead: lookups.PartnerMemberRead,
    Event: lookups.Event,
    Standing: lookups.Standing,
    MemberProfile: { ...lookups.MemberProfile, ...profile.MemberProfile },
    DateTime: DATE_TIME,
  };
}

/** The maximum of one field. */
const MAX_EVENTS = 1_000;

function createEvents(events: EventStore) {
  return {
    Query: {
      async pendingEvents(_, { first }, { caller }) {
        requireService(caller);
        if (first < 1 || first > MAX_EVENTS) fail('BAD_USER_INPUT');
        const pending = await events.pending(first);
        return pending.map(({ ack, event }) => ({ ack, event: JSON.stringify(event) }));
      },
    },
    Mutation: {
      async acknowledgeEvents(_, { acks }, { caller }) {
        requireService(caller);
        if (acks.length > MAX_EVENTS) fail('BAD_USER_INPUT');
        await events.acknowledge(acks);
        return true;
      },
    },
  } satisfies Resolvers;
}
