// The small pages for members as HTML: what the identity provider or a mailed link asks for.
import { fill } from '../fill.ts';
import type { HttpResponse } from '../http/response.ts';
import { isolated } from '../input.ts';
import type { IdentityPage } from '../signin/exchange.ts';
import { type Html, html, sentence } from './html.ts';
import type { Texts } from './language.ts';
import { page, pageResponse, textPage } from './layout.ts';

type PageOf<Name extends IdentityPage['name']> = Extract<IdentityPage, { name: Name }>;

/** A page of the provider; undefined for the account, which needs the member's profile. */
export function cardOf(shown: Exclude<IdentityPage, PageOf<'account'>>, texts: Texts): string {
  const { language, elsewhere } = texts;
  switch (shown.name) {
    case 'address':
      return addressPage(shown, texts);
    case 'code':
      return codePage(shown, texts);
    case 'consent':
      return consentPage(shown, texts);
    case 'elsewhere':
      return textPage(elsewhere.title, elsewhere.text, language);
    case 'signOut':
      return signOutPage(shown, texts);
    case 'message':
      return messageText(texts, shown.message, shown.detail);
  }
}

/** What a link offers before it is redeemed: a button, which posts the token to `path`. */
export function linkPage(
  { title, text, button }: Texts['links']['signIn'],
  token: string,
  path: string,
  language: string,
): string {
  const content = html`<p>${sentence(text)}</p>
${form(path, html`<input type="hidden" name="token" value="${token}">${submit(button)}`)}`;
  return page(title, content, language);
}

function addressPage(shown: PageOf<'address'>, texts: Texts): string {
  const { action, appName, problem, typed = '' } = shown;
  const { title, app, label, hint, button, problems } = texts.address;
  const content = html`${appName === undefined ? '' : html`<p>${sentence(fill(app, { app: isolated(appName) }))}</p>`}
${problem === undefined ? '' : noticeBox(problems[problem], true)}
${form(
  action,
  html`<label for="email">${label}</label>
<input id="email" name="email" type="email" value="${typed}" autocomplete="email" maxlength="254"
 spellcheck="false" aria-describedby="how" required>
<p class="soft" id="how">${hint}</p>${submit(button)}`,
)}`;
  return page(title, content, texts.language);
}

function codePage({ action, address, problem }: PageOf<'code'>, texts: Texts): string {
  const { title, text, label, button, problems, again } = texts.code;
  const content = html`${problem === undefined ? '' : noticeBox(problems[problem], true)}
${address === '' ? '' : html`<p>${fill(text, { address })}</p>`}
${form(
  action,
  html`<label for="code">${label}</label>
<input id="code" name="code" autocomplete="one-time-code" autocapitalize="characters"
 maxlength="20" spellcheck="false" required>
${submit(button)}`,
)}
<p class="end"><a href="${action}">${again}</a></p>`;
  return page(title, content, texts.language);
}

function consentPage(shown: PageOf<'consent'>, texts: Texts): string {
  const { title, text, confirms, host, agree, cancel } = texts.consent;
  const scopes: Readonly<Record<string, string>> = texts.consent.scopes;
  const names = { app: isolated(shown.appName), partner: isolated(shown.partnerName) };
  const items = shown.scopes.map((scope) => html`<li>${scopes[scope] ?? scope}</li>`);
  const content = html`<p>${sentence(fill(text, names))}</p>
<ul>${items}</ul>
${['profile', 'email'].some((one) => shown.scopes.includes(one)) ? html`<p>${sentence(fill(confirms, names))}</p>` : ''}
${shown.host === undefined ? '' : html`<p class="soft">${fill(host, { host: shown.host })}</p>`}
${form(
  shown.action,
  html`<button name="agree" value="yes">${agree}</button>
<button name="cancel" value="yes" class="plain">${cancel}</button>`,
)}`;
  return page(fill(title, names), content, texts.language);
}

function signOutPage({ action, xsrf }: PageOf<'signOut'>, texts: Texts): string {
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

export function form(action: string, content: Html, kind = ''): Html {
  const look = kind === '' ? '' : html` class="${kind}"`;
  // Browsers refuse an address with more than ASCII before its @.
  const validation = content.html.includes('type="email"') ? html` novalidate` : '';
  return html`<form method="post" action="${action}"${look}${validation}>
${content}
</form>`;
}

export function submit(button: string): Html {
  return html`<button type="submit">${button}</button>`;
}

/** Screen readers read it first. */
export function noticeBox(text: string, isProblem: boolean): Html {
  return isProblem
    ? html`<p class="notice problem" role="alert">${sentence(text)}</p>`
    : html`<p class="notice" role="status">${sentence(text)}</p>`;
}

export type MessageName = keyof Texts['messages'];

/** A page that says one thing; `detail` has a place in it. */
function messageText({ messages, language }: Texts, name: MessageName, detail = ''): string {
  const [title = '', text = ''] = messages[name];
  return textPage(title, fill(text, { detail }), language);
}

export function tooManyPage(texts: Texts, retryAfter: number): HttpResponse {
  return pageResponse(429, messageText(texts, 'tooMany'), { 'retry-after': `${retryAfter}` });
}

export function messagePage(
  status: number,
  texts: Texts,
  name: MessageName,
  detail?: string,
): HttpResponse {
  return pageResponse(status, messageText(texts, name, detail));
}
