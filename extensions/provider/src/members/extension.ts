// The built-in identity provider, as an extension of the members subgraph.

import type { IdentityProvider, MembersCore } from '@partner-loyalty/members/ports.ts';
import { html } from '@partner-loyalty/runtime/pages/html.ts';
import type {
  IdentityRequest,
  IdentityResponse,
} from '@partner-loyalty/runtime/signin/exchange.ts';
import { createManageApps } from './apps.ts';
import type { Identity } from './handle.ts';
import { createStaffSignIn } from './staffsignin.ts';

export function openProvider(core: MembersCore): IdentityProvider {
  const staffSignIn = createStaffSignIn(core);
  if (core.settings.idTokenIssuer !== undefined) return { staffSignIn };
  const forward = openIdentity(core);
  const forwardText = async (request: string) => formerResponse(await forward(JSON.parse(request)));
  return {
    forward,
    forwardText,
    manageApps: createManageApps(core.store, core.settings),
    staffSignIn,
  };
}

/** Loads the provider with the first request that needs it; one that fails is tried again. */
function openIdentity(core: MembersCore): Identity {
  let loading: Promise<Identity> | undefined;
  const load = async () => (await import('./handle.ts')).createIdentity(core);
  return async (request: IdentityRequest) => {
    loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    });
    return (await loading)(request);
  };
}

/** Those gateways render accounts, and send no policies with pages that they have not rendered. */
function formerResponse({ account, body = '', ...response }: IdentityResponse): string {
  const policy = html`<meta http-equiv="content-security-policy" content="${String(response.headers['content-security-policy'])}">
<meta name="referrer" content="no-referrer">`;
  const page = account && { name: 'account', ...account };
  const text = body.replace('<head>', (head) => `${head}\n${policy.html}`);
  return JSON.stringify({ ...response, ...(page ? { page } : { body: text }) });
}
