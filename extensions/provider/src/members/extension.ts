// The built-in identity provider, as an extension of the members subgraph.

import type { IdentityProvider, MembersCore } from '@partner-loyalty/members/ports.ts';
import { once } from '@partner-loyalty/runtime/once.ts';
import { html } from '@partner-loyalty/runtime/pages/html.ts';
import type { IdentityResponse } from '@partner-loyalty/runtime/signin/exchange.ts';
import { createManageApps } from './apps.ts';
import type { Identity } from './handle.ts';
import { createStaffSignIn } from './staffsignin.ts';

export function openProvider(core: MembersCore): IdentityProvider {
  const staffSignIn = createStaffSignIn(core);
  if (core.settings.idTokenIssuer !== undefined) return { staffSignIn };
  const identity = once(async () => (await import('./handle.ts')).createIdentity(core));
  const forward: Identity = async (request) => (await identity())(request);
  const forwardText = async (request: string) => formerResponse(await forward(JSON.parse(request)));
  return {
    forward,
    forwardText,
    manageApps: createManageApps(core.store, core.settings),
    staffSignIn,
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
