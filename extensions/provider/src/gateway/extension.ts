// Signing members in, as an extension of the gateway: pages, OpenID endpoints and their documents.
import { createCors } from '@partner-loyalty/gateway/edge/cors.ts';
import type { Core, Extension } from '@partner-loyalty/gateway/ports.ts';
import { createInvitation } from './invitation.ts';
import { createOauth } from './oauth.ts';
import { createPersonOf, createProvider } from './provider.ts';
import { createSignIn } from './signin.ts';
import { createTokens } from './tokens.ts';
import { isWellKnown, wellKnown } from './wellknown.ts';

/** Pages of apps call the endpoints, and read the documents. */
const CORS = {
  methods: 'GET, HEAD, POST',
  allowed: ['authorization', 'content-type', 'x-request-id'],
};

export function open(core: Core): Extension {
  const { settings, apps, visit } = core;
  const cors = createCors(settings.corsOrigins, CORS, apps);
  const parts = { ...core, cors, tokens: createTokens(core) };
  const provider = apps && createProvider(core);
  const oauth = provider && createOauth({ ...parts, provider });
  const signIn = createSignIn({ ...parts, provider });
  const invitation = createInvitation(parts);

  return {
    sessions: provider && { cookie: 'session', personOf: createPersonOf(core) },
    handle(request) {
      const { path } = request;
      if (isWellKnown(path))
        return cors.around(request, () => visit(request, (visited) => wellKnown(core, visited)));
      if (/^\/sign-in\/?$/.test(path)) return visit(request, signIn);
      if (/^\/invitation\/?$/.test(path)) return visit(request, invitation);
      if (oauth === undefined) return undefined;
      if (path.startsWith('/oauth/')) return oauth(request);
      // Below /sign-in is what an app's request asks the member for.
      return /^\/(account\/?$|sign-in\/)/.test(path) ? visit(request, signIn) : undefined;
    },
  };
}
