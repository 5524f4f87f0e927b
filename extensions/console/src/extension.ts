// The console of partners' staff at /console, as an extension of the gateway.
import type { Core, Extension } from '@partner-loyalty/gateway/ports.ts';
import { once } from '@partner-loyalty/runtime/once.ts';
import { createStaffMail } from './manage.ts';
import { startNotices } from './notices.ts';
import { createPersonOf, SESSION_COOKIE } from './sessions.ts';

export function open(core: Core): Extension {
  if (core.settings.console !== 'on') return {};
  const { own: ownUrl, visit, graphs } = core;
  const parts = { ...core, ownUrl, members: createStaffMail(graphs.askProvider) };
  const pages = once(async () => (await import('./console.ts')).createConsole(parts));
  const { close } = startNotices(parts);
  return {
    sessions: { cookie: SESSION_COOKIE, personOf: createPersonOf(core.keyStore) },
    handle: (request) =>
      /^\/console(\/|$)/.test(request.path)
        ? visit(request, async (visited) => (await pages())(visited), false)
        : undefined,
    close,
  };
}
