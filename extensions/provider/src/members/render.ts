// Pages of the provider as HTML, and what the gateway learns with a response.
import { type IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { fill } from '@partner-loyalty/runtime/fill.ts';
import { isolated } from '@partner-loyalty/runtime/input.ts';
import {
  form,
  type MessageName,
  messageText,
  ownerLine,
} from '@partner-loyalty/runtime/pages/cards.ts';
import { html, sentence } from '@partner-loyalty/runtime/pages/html.ts';
import { type Texts, textsIn } from '@partner-loyalty/runtime/pages/language.ts';
import { cardHeaders, page } from '@partner-loyalty/runtime/pages/layout.ts';
import type {
  IdentityRequest,
  IdentityResponse,
} from '@partner-loyalty/runtime/signin/exchange.ts';
import type { KoaContextWithOIDC as Context, ErrorOut } from 'oidc-provider';

/** Keeps what Koa sends; Koa and oidc-provider read no more of the request than there is. */
export class Outgoing extends ServerResponse {
  readonly request: IdentityRequest;
  content = '';
  isPage = false;
  /** Goes to the gateway beside the response. */
  result: Pick<IdentityResponse, 'account' | 'clientId' | 'counts' | 'owner'> = {};

  /** `headers` replace what was forwarded; the service is below `baseUrl`. */
  constructor(request: IdentityRequest, baseUrl: string, headers: Record<string, string>) {
    const { method, path, search } = request;
    const body = Buffer.from(method === 'POST' ? request.body : '');
    const all = { ...request.headers, 'content-length': `${body.length}`, ...headers };
    const message = { method, url: `${path}${search}`, headers: all, socket: {}, baseUrl };
    // Cast: see above.
    super(Object.assign(Readable.from([body]), message) as unknown as IncomingMessage);
    this.request = request;
  }

  override end(content: unknown = ''): this {
    this.content = String(content);
    return this;
  }
}

/** Cast: each response is one. */
export const outgoingOf = (ctx: Context) => ctx.res as Outgoing;
export const textsOf = (ctx: Context) => textsIn(outgoingOf(ctx).request.language);

/** The forms of the page may lead on to `formOrigins`, for the policy `form-action`. */
export function show(ctx: Context, status: number, text: string, formOrigins: string[] = []): void {
  ctx.status = status;
  ctx.body = text;
  ctx.set({ ...cardHeaders(formOrigins), 'cache-control': 'no-store' });
  outgoingOf(ctx).isPage = true;
}

/** A page without a form. */
export function say(ctx: Context, status: number, name: MessageName, detail?: string): void {
  show(ctx, status, messageText(textsOf(ctx), name, detail));
}

/** What oidc-provider shows instead of sending a browser back to an app that it does not trust. */
export function showError(ctx: Context, out: ErrorOut, error: Error): void {
  if (out.error === 'server_error') say(ctx, 500, 'unavailable');
  else if (error.name === 'SessionNotFound' || ctx.path.endsWith('/confirm'))
    say(ctx, 400, 'expired');
  else say(ctx, ctx.status, 'appRefused', out.error_description);
}

type Consent = {
  partnerName: string;
  appName: string;
  scopes: string[];
  /** Where the app is, if it has a host of its own. */
  host: string | undefined;
  isSandbox: boolean;
  /** The member's, as the partner sees it. */
  address: string;
};

/** Asks for `agree` or `cancel`. */
export function consentPage(action: string, shown: Consent, texts: Texts): string {
  const { title, text, confirms, host, signedIn, other, agree, cancel } = texts.consent;
  const scopes: Readonly<Record<string, string>> = texts.consent.scopes;
  const names = { app: isolated(shown.appName), partner: isolated(shown.partnerName) };
  // The standing needs no scope.
  const all = [...new Set(['openid', ...shown.scopes])];
  const items = all.map((scope) => html`<li>${scopes[scope] ?? scope}</li>`);
  const content = html`<p>${sentence(fill(text, names))}</p>
<ul>${items}</ul>
${['profile', 'email'].some((one) => shown.scopes.includes(one)) ? html`<p>${sentence(fill(confirms, names))}</p>` : ''}
${shown.host === undefined ? '' : html`<p class="soft">${fill(host, { host: shown.host })}</p>`}
${form(
  action,
  html`<button name="agree" value="yes">${agree}</button>
<button name="cancel" value="yes" class="plain">${cancel}</button>
<p class="soft end">${sentence(fill(signedIn, { address: isolated(shown.address) }))}
<button name="other" value="yes" class="quiet">${other}</button></p>`,
)}`;
  const above = ownerLine(shown.partnerName, shown.isSandbox);
  return page(fill(title, names), content, texts.language, above);
}

/** Asks for `logout` or `cancel`; `xsrf` is posted with it. */
export function signOutPage(action: string, xsrf: string, texts: Texts): string {
  const { title, text, button, cancel } = texts.signOut;
  const content = html`<p>${text}</p>
${form(
  action,
  html`<input type="hidden" name="xsrf" value="${xsrf}">
<button name="logout" value="yes">${button}</button>
<button name="cancel" value="yes" class="plain">${cancel}</button>`,
)}`;
  return page(title, content, texts.language);
}
