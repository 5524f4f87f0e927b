// The pages of the provider: /sign-in, which an app's request leads through too, and /account.

import type { Client, Context, Interaction, Provider, Result } from 'oidc-provider';
import { hashToken } from '../rules/mailedtoken.ts';
import { type AccountParts, createAccount } from './account.ts';
import { partnerOf, SCOPES } from './claims.ts';
import { digest } from './digest.ts';
import { createGrants } from './grants.ts';
import { originOf } from './redirects.ts';
import { say, show } from './render.ts';
import { createSignIns, type Proven, type SignInParts } from './signin.ts';

const MAX_FORM = 64 * 1_024;

export type PagesParts = AccountParts & SignInParts;

type Middleware = (ctx: Context, next: () => Promise<void>) => Promise<void>;

/** Returns the middleware that handles the pages, before the provider's own paths. */
export function createPages(parts: PagesParts): (provider: Provider) => Middleware {
  const { store, sessions, basePath } = parts;
  const account = createAccount(parts);
  const signIns = createSignIns(parts);
  const grants = createGrants(parts);

  return (provider) => {
    async function appOf({ params }: Interaction) {
      const client = await provider.Client.find(params.client_id);
      if (client === undefined) return undefined;
      const partner = await store.partners.get(client.partner_id);
      return {
        client,
        appName: client.clientName,
        partnerName: partner?.name ?? client.partner_id,
        formOrigins: originOf(params.redirect_uri),
      };
    }

    /** Goes on with an app's request, which `result` answers a question of. */
    async function resume(ctx: Context, interaction: Interaction, result: Result): Promise<void> {
      // What was answered before stays answered, unless the member refuses.
      interaction.result =
        result.error === undefined ? { ...interaction.lastSubmission, ...result } : result;
      await interaction.save(Math.max(1, interaction.exp - Math.floor(Date.now() / 1_000)));
      redirect(ctx, interaction.returnTo);
    }

    /** The member has proved who it is: for an app's request, or for the own page. */
    async function finish(ctx: Context, proven: Proven): Promise<void> {
      const { memberId, signIn } = proven;
      const { interactionId } = signIn;
      if (interactionId === undefined) {
        if (!(await signIns.confirm(ctx, proven, undefined))) return say(ctx, 410, 'invalidLink');
        await sessions.signIn(ctx, provider, memberId);
        return redirect(ctx, `${basePath}/account`);
      }
      const interaction = await provider.Interaction.find(interactionId);
      const app = interaction && (await appOf(interaction));
      if (interaction === undefined || app === undefined) return say(ctx, 400, 'expired');
      if (!(await signIns.confirm(ctx, proven, partnerOf(app.client))))
        return say(ctx, 410, 'invalidLink');
      if (interaction.session !== undefined && interaction.session.accountId !== memberId) {
        // Another member takes the browser over: the former one's session ends.
        await sessions.signOut(ctx, await provider.Session.get(ctx));
        interaction.session = undefined;
      }
      const ts = Math.floor(Date.now() / 1_000);
      await resume(ctx, interaction, { login: { accountId: memberId, ts } });
    }

    async function login(
      ctx: Context,
      form: URLSearchParams,
      interactionId?: string,
      app?: { appName: string; partnerName: string; formOrigins: string[] },
    ): Promise<void> {
      const action = `${basePath}${ctx.path}`;
      const [email, code] = [form.get('email'), form.get('code')];
      if (code !== null) {
        const outcome = await signIns.byCode(ctx, code, interactionId);
        return 'memberId' in outcome
          ? finish(ctx, outcome)
          : show(ctx, 200, { ...outcome, action, formOrigins: app?.formOrigins });
      }
      const begun = email === null ? {} : await signIns.begin(ctx, email, interactionId);
      if ('name' in begun)
        return show(ctx, 200, { ...begun, action, formOrigins: app?.formOrigins });
      show(ctx, 200, { name: 'address', action, ...app, ...begun });
    }

    async function agree(ctx: Context, interaction: Interaction, client: Client): Promise<void> {
      const { accountId: memberId = '', uid = '' } = interaction.session ?? {};
      const sessionId = digest(uid);
      const scopes = scopesOf(interaction);
      const grantId = await grants.grant(provider, client, { memberId, sessionId, scopes });
      await resume(ctx, interaction, { consent: { grantId } });
    }

    /** A question of an app's request: who the member is, or whether the member agrees. */
    async function ask(ctx: Context, id: string, form: URLSearchParams): Promise<void> {
      const isOfBrowser = ctx.cookies.get('interaction') === id;
      const interaction = isOfBrowser ? await provider.Interaction.find(id) : undefined;
      const app = interaction && (await appOf(interaction));
      if (interaction === undefined || app === undefined) return say(ctx, 400, 'expired');
      if (form.has('cancel'))
        return resume(ctx, interaction, {
          error: 'access_denied',
          error_description: 'the member has cancelled',
        });
      const { client, ...shown } = app;
      if (interaction.prompt.name === 'login') return login(ctx, form, id, shown);
      // Whoever signs out meanwhile agrees to nothing.
      const current = await provider.Session.get(ctx);
      if (current.uid !== interaction.session?.uid) return say(ctx, 400, 'expired');
      if (form.has('agree')) return agree(ctx, interaction, client);
      const host = hostOf(interaction.params.redirect_uri);
      const action = `${basePath}${ctx.path}`;
      show(ctx, 200, { name: 'consent', action, ...shown, scopes: scopesOf(interaction), host });
    }

    /** A partner's mailed link. */
    async function redeem(ctx: Context, token: string): Promise<void> {
      const hash = hashToken('sign-in', token);
      const member =
        hash === undefined
          ? undefined
          : await store.tokens.redeemSignIn(hash, 'own-page', Date.now());
      if (member === undefined) {
        ctx.set(COUNTS_HEADER, 'refused');
        return say(ctx, 410, 'invalidLink');
      }
      const signedIn = await sessions.signIn(ctx, provider, member.memberId);
      // A browser is sent on, so that reloading the page does not send the used token again.
      if (ctx.get('sec-fetch-mode') === 'navigate') return redirect(ctx, `${basePath}/sign-in`);
      await account.view(ctx, signedIn);
    }

    async function own(ctx: Context, form: URLSearchParams): Promise<void> {
      const { token: mailed } = ctx.query;
      if (typeof mailed === 'string') {
        const proven = await signIns.byLink(ctx, mailed);
        if (proven !== undefined) return finish(ctx, proven);
        const isToken = hashToken('browser', mailed) !== undefined;
        return isToken
          ? show(ctx, 200, { name: 'elsewhere', action: `${basePath}/sign-in` })
          : say(ctx, 404, 'invalidLink');
      }
      const token = form.get('token');
      if (token !== null) return redeem(ctx, token);
      const signedIn = await sessions.current(ctx, provider);
      if (signedIn !== undefined)
        return ctx.method === 'POST'
          ? account.submit(ctx, signedIn, form)
          : account.view(ctx, signedIn);
      if (form.has('sign-out')) return say(ctx, 200, 'signedOut');
      if (ctx.path === '/account') return redirect(ctx, `${basePath}/sign-in`);
      await login(ctx, form);
    }

    return async (ctx, next) => {
      const [, page, id] = /^\/(sign-in|account)(?:\/([\w-]{1,64}))?$/.exec(ctx.path) ?? [];
      if (page === undefined) return next();
      const form = new URLSearchParams(ctx.method === 'POST' ? await readBody(ctx) : '');
      if (id === undefined) return own(ctx, form);
      return page === 'sign-in' ? ask(ctx, id, form) : say(ctx, 404, 'expired');
    };
  };
}

/** What the gateway counts a request as. */
export const COUNTS_HEADER = 'x-identity-counts';

function redirect(ctx: Context, url: string): void {
  ctx.status = 303;
  ctx.redirect(url);
  ctx.body = '';
}

function scopesOf({ params }: Interaction): string[] {
  return (params.scope ?? '').split(' ').filter((scope) => SCOPES.includes(scope));
}

function hostOf(uri = ''): string | undefined {
  return /^https?:/.test(uri) ? new URL(uri).host : undefined;
}

async function readBody({ req }: Context): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req) {
    bytes += chunk.length;
    if (bytes > MAX_FORM) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
