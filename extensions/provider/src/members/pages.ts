// The pages of the provider: /sign-in, which an app's request leads through too, and /account.
import { text } from 'node:stream/consumers';
import type { MembersCore } from '@partner-loyalty/members/ports.ts';
import { profileOf } from '@partner-loyalty/members/resolvers/profile.ts';
import { firstUseOf, hashToken } from '@partner-loyalty/members/rules/mailedtoken.ts';
import { digest } from '@partner-loyalty/members/tables/access.ts';
import type { App } from '@partner-loyalty/members/tables/apps.ts';
import { secretHash } from '@partner-loyalty/members/tables/signins.ts';
import { ownerLine, type SignInCard, signInCard } from '@partner-loyalty/runtime/pages/cards.ts';
import type { KoaContextWithOIDC as Context, Interaction, Provider } from 'oidc-provider';
import { type AccountParts, createAccount } from './account.ts';
import type { Login } from './adapter.ts';
import type { Authorizations } from './authorizations.ts';
import { SCOPES, viewOf } from './claims.ts';
import { originOf } from './redirects.ts';
import { consentPage, outgoingOf, say, show, textsOf } from './render.ts';
import { type Begun, createSignIns, type Proven, type SignInParts } from './signin.ts';

/** What pages show of an app's request. */
type Shown = {
  appName: string;
  partnerName: string;
  formOrigins: string[];
  partnerId: string | undefined;
};
/** A sealed request, and its ID. */
type Asked = { interactionId: string; request: string };
type Result = NonNullable<Interaction['result']>;
type Middleware = (ctx: Context, next: () => Promise<void>) => Promise<void>;

/** Returns the middleware that handles the pages, before the provider's own paths. */
export function createPages(
  parts: AccountParts & SignInParts & Pick<MembersCore, 'inbox'>,
): (provider: Provider, authorizations: Authorizations) => Middleware {
  const { store, grants, sessions, issuer, basePath, inbox } = parts;
  // Production has none.
  const isSandbox = inbox !== undefined;
  const account = createAccount(parts);
  const signIns = createSignIns(parts);

  return (provider, authorizations) => {
    /** The app of a request, unless it or its redirect URI is gone or its partner is suspended. */
    async function appOf(interaction: Interaction) {
      const { client_id: clientId = '', redirect_uri: uri = '' } = paramsOf(interaction);
      const client = await provider.Client.find(clientId);
      if (!client?.redirectUriAllowed(uri)) return undefined;
      const app = await store.apps.find(clientId);
      const partner = app && (await store.partners.get(app.partnerId));
      if (app === undefined || partner?.isSuspended) return undefined;
      const shown = {
        appName: app.name,
        partnerName: partner?.name ?? app.partnerId,
        formOrigins: originOf(uri),
        partnerId: viewOf(app),
      };
      return { app, shown };
    }

    /** Goes on with an app's request, which `result` answers a question of. */
    async function resume(ctx: Context, interaction: Interaction, result: Result): Promise<void> {
      // What was answered before stays answered.
      const answer = { ...interaction.lastSubmission, ...result };
      if (!(await authorizations.answer(ctx, interaction, answer))) return say(ctx, 400, 'expired');
      redirect(ctx, `${issuer}/oauth/authorize/${interaction.uid}`);
    }

    /** Sends the browser back to an app that the member refuses. */
    function refuse(ctx: Context, interaction: Interaction): void {
      const { redirect_uri: uri = '', state } = paramsOf(interaction);
      const url = new URL(uri);
      url.searchParams.set('error', 'access_denied');
      url.searchParams.set('error_description', 'the member has cancelled');
      if (state !== undefined) url.searchParams.set('state', state);
      url.searchParams.set('iss', issuer);
      redirect(ctx, url.href);
    }

    /** The member has proved who it is: for an app's request, or for its own page. */
    async function finish(ctx: Context, proven: Proven): Promise<void> {
      const { memberId, interactionId, address } = proven;
      if (interactionId === undefined) {
        if (!(await signIns.confirm(ctx, proven))) return say(ctx, 410, 'invalidLink');
        const proof = { at: proven.signIn.usedAt, id: proven.session };
        const isOpen = await sessions.signIn(ctx, provider, memberId, proof);
        return isOpen ? redirect(ctx, `${basePath}/account`) : say(ctx, 410, 'invalidLink');
      }
      const interaction = await authorizations.open(ctx, proven.signIn.request ?? '');
      const of = interaction && (await appOf(interaction));
      if (interaction === undefined || of === undefined) return say(ctx, 400, 'expired');
      if (!(await signIns.confirm(ctx, proven))) return say(ctx, 410, 'invalidLink');
      const session = await provider.Session.get(ctx);
      // Another member takes the browser over: the former one's session ends, which may have begun
      // in another tab.
      if (session.accountId !== undefined && session.accountId !== memberId)
        await sessions.signOut(ctx, session);
      interaction.session = undefined;
      const at = proven.signIn.usedAt;
      const limitedTo = inbox?.readerOf(address, of.shown.partnerId);
      const login: Login = { accountId: memberId, address, at };
      const ts = Math.floor(at / 1_000);
      await resume(ctx, interaction, { login: { ...login, ts, limitedTo } });
    }

    async function login(ctx: Context, form: URLSearchParams, app?: Shown, asked?: Asked) {
      const of = { ...asked, partnerId: app?.partnerId };
      const above = ownerLine(app?.partnerName, isSandbox);
      const showCard = (card: SignInCard) => {
        const text = signInCard(card, `${basePath}${ctx.path}`, textsOf(ctx), above);
        show(ctx, 200, text, app?.formOrigins);
      };
      const [email, code] = [form.get('email'), form.get('code')];
      if (code !== null) {
        const outcome = await signIns.byCode(ctx, code, asked?.interactionId);
        return 'memberId' in outcome ? finish(ctx, outcome) : showCard(outcome);
      }
      const begun: Begun = email === null ? {} : await signIns.begin(ctx, email, of);
      if (begun.name === 'code') return showCard(begun);
      const typed = email ?? undefined;
      showCard({ name: 'address', appName: app?.appName, typed, ...begun });
    }

    async function agree(ctx: Context, interaction: Interaction, app: App): Promise<void> {
      const { accountId: memberId = '', uid = '' } = interaction.session ?? {};
      const sessionId = digest(uid);
      const scopes = scopesOf(interaction);
      const grantId = await grants.agree(provider, app, { memberId, sessionId, scopes });
      await resume(ctx, interaction, { consent: { grantId } });
    }

    /** A question of an app's request: who the member is, or whether the member agrees. */
    async function ask(ctx: Context, request: string, form: URLSearchParams): Promise<void> {
      const interaction = await authorizations.open(ctx, request);
      const of = interaction && (await appOf(interaction));
      if (interaction === undefined || of === undefined) return say(ctx, 400, 'expired');
      if (form.has('cancel')) return refuse(ctx, interaction);
      const { app, shown } = of;
      const { appName, partnerName, formOrigins } = shown;
      const isOther = ['other', 'email', 'code'].some((name) => form.has(name));
      if (interaction.prompt.name === 'login' || isOther)
        return login(ctx, form, shown, { interactionId: interaction.uid, request });
      // Whoever signs out meanwhile agrees to nothing.
      const current = await provider.Session.get(ctx);
      if (current.uid !== interaction.session?.uid) return say(ctx, 400, 'expired');
      if (form.has('agree')) return agree(ctx, interaction, app);
      const [scopes, host] = [scopesOf(interaction), hostOf(paramsOf(interaction).redirect_uri)];
      const { accountId: memberId = '' } = current;
      const member = await store.member(memberId);
      const address = member ? profileOf(member, viewOf(app)).email : '';
      const asked = { appName, partnerName, scopes, host, isSandbox, address };
      const text = consentPage(`${basePath}${ctx.path}`, asked, textsOf(ctx));
      show(ctx, 200, text, formOrigins);
    }

    /** A partner's mailed link. */
    async function redeem(ctx: Context, token: string): Promise<void> {
      const hash = hashToken('sign-in', token);
      const { request, result } = outgoingOf(ctx);
      const by = request.formId;
      const now = Date.now();
      const link = hash && (await store.tokens.findSignIn(hash, now, by));
      const member = link && (await store.tokens.redeemSignIn(hash, 'own-page', Date.now(), by));
      if (!link || !member) {
        result.counts = 'refused';
        return say(ctx, 410, 'invalidLink');
      }
      const limitedTo = inbox?.readerOf(link.address, link.partnerId);
      // Nobody knows it by the mail alone, nor by the store.
      const id = by && secretHash(by, token);
      const proof = { at: firstUseOf(link) ?? now, limitedTo, id };
      const signedIn = await sessions.signIn(ctx, provider, member.memberId, proof);
      if (signedIn === undefined) return say(ctx, 410, 'invalidLink');
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
          ? show(ctx, 200, signInCard({ name: 'elsewhere' }, '', textsOf(ctx)))
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
      const [, page, id] = /^\/(sign-in|account)(?:\/([\w.-]{1,8192}))?$/.exec(ctx.path) ?? [];
      if (page === undefined) return next();
      const form = new URLSearchParams(ctx.method === 'POST' ? await text(ctx.req) : '');
      if (id === undefined) return own(ctx, form);
      return page === 'sign-in' ? ask(ctx, id, form) : say(ctx, 404, 'expired');
    };
  };
}

export function redirect(ctx: Context, url: string): void {
  ctx.status = 303;
  ctx.redirect(url);
  ctx.body = '';
}

/** Cast: oidc-provider has checked that they are texts. */
function paramsOf({ params }: Interaction) {
  return params as Readonly<Record<string, string | undefined>>;
}

function scopesOf(interaction: Interaction): string[] {
  const { scope = '' } = paramsOf(interaction);
  return scope.split(' ').filter((one) => SCOPES.includes(one));
}

function hostOf(uri = ''): string | undefined {
  return /^https?:/.test(uri) ? new URL(uri).host : undefined;
}
