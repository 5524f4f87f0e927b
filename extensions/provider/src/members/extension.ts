// The built-in identity provider, as an extension of the members subgraph.

import { setTimeout as pause } from 'node:timers/promises';
import type { IdentityProvider, MembersCore } from '@partner-loyalty/members/ports.ts';
import { startLoop } from '@partner-loyalty/runtime/eventloop/loop.ts';
import { once } from '@partner-loyalty/runtime/once.ts';
import { html } from '@partner-loyalty/runtime/pages/html.ts';
import type { IdentityResponse } from '@partner-loyalty/runtime/signin/exchange.ts';
import { createManageApps } from './apps.ts';
import type { Identity } from './handle.ts';
import { createStaffSignIn } from './staffsignin.ts';

/** How often a process takes up what another one, or an outage, has left. */
const TAKE_BACK_INTERVAL_MS = 600_000;
/** How long removing an app waits for what many members have confirmed. */
const REMOVAL_WAIT_MS = 1_000;

export function openProvider(core: MembersCore): IdentityProvider {
  const staffSignIn = createStaffSignIn(core);
  if (core.settings.idTokenIssuer !== undefined) return { staffSignIn };
  const { store, settings, log } = core;
  const takingBack = startLoop(store.tokens.takeBackRemoved, {
    everyMs: TAKE_BACK_INTERVAL_MS,
    failed: (err) => log.outage({ err, store: 'members' }, 'removed apps still confirm partners'),
  });
  takingBack.wake();
  async function takeBack(): Promise<void> {
    takingBack.wake();
    await Promise.race([takingBack.run(), pause(REMOVAL_WAIT_MS, undefined, { ref: false })]);
  }
  const identity = once(async () => (await import('./handle.ts')).createIdentity(core));
  const forward: Identity = async (request) => (await identity())(request);
  const forwardText = async (request: string) => formerResponse(await forward(JSON.parse(request)));
  return {
    forward,
    forwardText,
    manageApps: createManageApps(store, settings, takeBack),
    staffSignIn,
    close: takingBack.stop,
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
