// Resolvers of the built-in identity provider for the gateway: its requests, and what ended.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { IdentityProvider } from '../ports.ts';
import { PAGE_SIZE } from '../signingkeys/endedsessions.ts';
import type { MembersStore } from '../store/store.ts';
import { requireService } from './input.ts';
import type { Resolvers } from './schema.generated.ts';

export function createProviderResolvers(
  {
    apps,
    endedSessions,
    endedSubjects,
  }: Pick<MembersStore, 'apps' | 'endedSessions' | 'endedSubjects'>,
  { forwardText, manageApps, staffSignIn }: Partial<IdentityProvider>,
) {
  return {
    Query: {
      async endedSubjects(_, { since }, { caller }) {
        requireService(caller);
        const members = await endedSessions.list(since, PAGE_SIZE);
        return [
          ...members.map(({ memberId, endedAt }) => ({ subject: `member:${memberId}`, endedAt })),
          ...(await endedSubjects.list(since, PAGE_SIZE)),
        ]
          .sort((one, other) => one.endedAt - other.endedAt)
          .slice(0, PAGE_SIZE);
      },
      appOrigins(_, _args, { caller }) {
        requireService(caller);
        return apps.origins();
      },
    },
    Mutation: {
      // How gateways of protocol 3 forward requests.
      identityRequest(_, { request }, { caller }) {
        requireService(caller);
        return forwardText?.(request) ?? fail('INTERNAL_SERVER_ERROR');
      },
      async manageApps(_, { request }, { caller }) {
        requireService(caller);
        if (manageApps === undefined) return fail('INTERNAL_SERVER_ERROR');
        return JSON.stringify(await manageApps(JSON.parse(request), 'staff'));
      },
      staffSignIn(_, { request }, { caller }) {
        requireService(caller);
        return staffSignIn?.(request) ?? fail('INTERNAL_SERVER_ERROR');
      },
    },
  } satisfies Resolvers;
}
