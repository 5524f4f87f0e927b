// The small pages of signing in as HTML, and pages that say one thing.
import { ADDRESS_LENGTH } from '../email.ts';
import { fill } from '../fill.ts';
import type { HttpResponse } from '../http/response.ts';
import { isolated } from '../input.ts';
import { type Html, html, sentence } from './html.ts';
import type { Texts } from './language.ts';
import { page, pageResponse, textPage } from './layout.ts';

/** A step of signing in by mail. */
export type SignInCard =
  /** Asks for `email`; `typed` is what was refused. */
  | {
      name: 'address';
      appName?: string | undefined;
      problem?: 'invalid' | 'limited' | undefined;
      typed?: string | undefined;
    }
  /** Asks for `code`. */
  | { name: 'code'; address: string; problem?: 'wrong' | 'expired' | undefined }
  /** A mailed link, opened elsewhere: the code is to be typed where sign-in began. */
  | { name: 'elsewhere' };
type Card<Name> = Extract<SignInCard, { name: Name }>;

/** Whose page it is: the partner, if there is one, and whether this is a sandbox. */
export function ownerLine(partnerName: string | undefined, isSandbox: boolean): Html {
  if (partnerName === undefined && !isSandbox) return html``;
  return html`<p class="owner"><bdi>${partnerName ?? ''}</bdi>${isSandbox ? html` <span class="badge">sandbox</span>` : ''}</p>`;
}

/** Its form posts to `action`; `above` stands above the title. */
export function signInCard(card: SignInCard, action: string, texts: Texts, above?: Html): string {
  if (card.name === 'elsewhere')
    return textPage(texts.elsewhere.title, texts.elsewhere.text, texts.language);
  const content =
    card.name === 'address' ? addressForm(card, action, texts) : codeForm(card, action, texts);
  return page(texts[card.name].title, content, texts.language, above);
}

/** What a link offers before it is redeemed: a button, which posts the token to `path`. */
export function linkPage(
  { title, text, button }: Texts['links']['signIn'],
  token: string,
  path: string,
  language: string,
  above?: Html,
): string {
  const content = html`<p>${sentence(text)}</p>
${form(path, html`<input type="hidden" name="token" value="${token}">${submit(button)}`)}`;
  return page(title, content, language, above);
}

function addressForm(card: Card<'address'>, action: string, texts: Texts): Html {
  const { appName, problem, typed = '' } = card;
  const { app, label, hint, button, problems } = texts.address;
  return html`${appName === undefined ? '' : html`<p>${sentence(fill(app, { app: isolated(appName) }))}</p>`}
${problem === undefined ? '' : noticeBox(problems[problem], true)}
${form(
  action,
  html`<label for="email">${label}</label>
<input id="email" name="email" type="email" value="${typed.slice(0, ADDRESS_LENGTH)}" autocomplete="email" maxlength="${ADDRESS_LENGTH}"
 spellcheck="false" aria-describedby="how" required>
<p class="soft" id="how">${hint}</p>${submit(button)}`,
)}`;
}

function codeForm({ address, problem }: Card<'code'>, action: string, texts: Texts): Html {
  const { text, label, button, problems, again } = texts.code;
  return html`${problem === undefined ? '' : noticeBox(problems[problem], true)}
${address === '' ? '' : html`<p>${fill(text, { address })}</p>`}
${form(
  action,
  html`<label for="code">${label}</label>
<input id="code" name="code" autocomplete="one-time-code" autocapitalize="characters"
 maxlength="20" spellcheck="false" required>
${submit(button)}`,
)}
<p class="end"><a href="${action}">${again}</a></p>`;
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

/** A page that says one thing; `detail` has a place in it, and `signIn` is a path to link to. */
export function messageText(
  { messages, address, language }: Texts,
  name: MessageName,
  detail = '',
  signIn?: string,
): string {
  const [title = '', text = ''] = messages[name];
  const content = html`<p>${sentence(fill(text, { detail }))}</p>
${signIn === undefined ? '' : html`<p class="end"><a href="${signIn}">${address.title}</a></p>`}`;
  return page(title, content, language, ownerLine(signIn && 'Partner Loyalty', false));
}

export function tooManyPage(texts: Texts, retryAfter: number): HttpResponse {
  return pageResponse(429, messageText(texts, 'tooMany'), { 'retry-after': `${retryAfter}` });
}

export function messagePage(
  status: number,
  texts: Texts,
  name: MessageName,
  ...more: [detail?: string, signIn?: string]
): HttpResponse {
  return pageResponse(status, messageText(texts, name, ...more));
}
