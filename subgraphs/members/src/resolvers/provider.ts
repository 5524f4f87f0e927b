// Resolvers of the built-in identity provider for the gateway: its requests, and what ended.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { ManageApps } from '@partner-loyalty/runtime/manage/apps.ts';
import { html } from '@partner-loyalty/runtime/pages/html.ts';
import type { IdentityResponse } from '@partner-loyalty/runtime/signin/exchange.ts';
import type { Subgraph } from '@partner-loyalty/runtime/subgraph/types.ts';
import { PAGE_SIZE } from '../signingkeys/endedsessions.ts';
import type { MembersStore } from '../store/store.ts';
import { requireService } from './input.ts';
import type { Resolvers } from './schema.generated.ts';

export type ProviderOptions = {
  /** Handles the requests of the identity provider; without it, there is none. */
  forward?: Subgraph['forward'];
  /** Signs staff in; without it, nobody is mailed a code. */
  staffSignIn?: ((request: string) => Promise<string>) | undefined;
  /** Without it, there are no apps. */
  manageApps?: ManageApps | undefined;
};

export function createProviderResolvers(
  {
    apps,
    endedSessions,
    endedSubjects,
  }: Pick<MembersStore, 'apps' | 'endedSessions' | 'endedSubjects'>,
  { forward, manageApps, staffSignIn }: ProviderOptions,
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
      async identityRequest(_, { request }, { caller }) {
        requireService(caller);
        if (forward === undefined) return fail('INTERNAL_SERVER_ERROR');
        return formerResponse(await forward(JSON.parse(request)));
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

/** Those gateways render accounts, and send no policies with pages that they have not rendered. */
function formerResponse({ account, body = '', ...response }: IdentityResponse): string {
  const policy = html`<meta http-equiv="content-security-policy" content="${String(response.headers['content-security-policy'])}">
<meta name="referrer" content="no-referrer">`;
  const page = account && { name: 'account', ...account };
  const text = body.replace('<head>', (head) => `${head}\n${policy.html}`);
  return JSON.stringify({ ...response, ...(page ? { page } : { body: text }) });
}
