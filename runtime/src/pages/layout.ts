// The layout of every page: its document, its style and its HTTP headers.
import { createHash } from 'node:crypto';
import type { ResponseHeaders } from '../http/headers.ts';
import type { HttpRequest } from '../http/request.ts';
import type { HttpResponse, ResponseObserver } from '../http/response.ts';
import { jsonFields, type Log } from '../observe/log.ts';
import { type Html, html, sentence } from './html.ts';
import { CARD_STYLE, FORM_SCRIPT } from './style.ts';

/**
 * The headers of a page with this style. Nothing else may load, run or frame it, except what
 * `sources`, more directives of its Content-Security-Policy, allow.
 */
export function pageHeaders(style: string, sources: readonly string[]): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': [
      "default-src 'none'",
      `style-src ${sourceOf(style)}`,
      'img-src data:',
      ...sources,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    // With `no-referrer`, browsers send `Origin: null` with a form.
    'referrer-policy': 'same-origin',
    'x-robots-tag': 'noindex',
  };
}

/** A source in a Content-Security-Policy: this text, where it stands in the page. */
function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** The policy of a page with forms allows their script. */
export const FORM_SCRIPT_SOURCE = sourceOf(FORM_SCRIPT);

/**
 * The text of a page: `head` goes into its head, after the title and the style. A page with forms
 * has their script.
 */
export function documentText(
  title: string,
  style: string,
  body: Html,
  head: Html = html``,
  language = 'en',
): string {
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${{ html: style }}</style>
${head}
${body.html.includes('method="post"') ? html`<script>${{ html: FORM_SCRIPT }}</script>` : ''}
</head>
<body>
${body}
</body>
</html>
`.html;
}

const PAGE_HEADERS = cardHeaders([]);

/**
 * The headers of a small page whose forms may lead to these origins: browsers apply the policy to
 * redirects too. Others than plain origins, or schemes of apps, are left out.
 */
export function cardHeaders(formOrigins: readonly string[]): Record<string, string> {
  const origins = formOrigins.filter((origin) =>
    /^[a-z][a-z0-9+.-]*:(\/\/[\w.:[\]-]+)?$/i.test(origin),
  );
  const forms = ["form-action 'self'", ...origins].join(' ');
  return pageHeaders(CARD_STYLE, [`script-src ${FORM_SCRIPT_SOURCE}`, forms]);
}

/** A small page in a card. The title is also its heading, and `above` stands above it. */
export function page(title: string, content: Html, language = 'en', above = html``): string {
  return documentText(
    title,
    CARD_STYLE,
    html`<main>
${above}
<h1>${sentence(title)}</h1>
${content}
</main>`,
    undefined,
    language,
  );
}

export function textPage(title: string, text: string, language = 'en'): string {
  return page(title, html`<p>${sentence(text)}</p>`, language);
}

export const UNAVAILABLE = textPage(
  'We cannot do this right now',
  'Something on our side is not responding. Please try again in a minute.',
);

export function pageResponse(
  status: number,
  body: string,
  headers: ResponseHeaders = {},
): HttpResponse {
  return { status, headers: { ...PAGE_HEADERS, ...headers }, body };
}

/** Leads from the path of a page and a slash at its end to the page. */
export function withoutSlash({ path, search }: HttpRequest): HttpResponse {
  return { status: 308, headers: { location: `${path.slice(0, -1)}${search}` }, body: '' };
}

/**
 * The response of `respond` to a request, which is logged when the response is sent, without what
 * may be secret: its query, its form, and the ID of an authorization in progress in its path.
 */
export async function observed(
  { requestId, method, path: asked, address }: HttpRequest,
  respond: () => Promise<HttpResponse>,
  log: Pick<Log, 'infoJson' | 'refused'>,
): Promise<HttpResponse> {
  const startedAt = performance.now();
  const path = asked.replace(/^(\/sign-in|\/oauth\/[^/]*)\/.*/, '$1');
  const response = await respond();
  const { status } = response;
  const observer: ResponseObserver = {
    ended(bytes, isWhole) {
      const durationMs = Math.round((performance.now() - startedAt) * 1_000) / 1_000;
      const ending = isWhole ? { bytes } : { reason: 'the client closed the connection' };
      const fields = { requestId, path, method, status, ...ending, durationMs };
      if (status === 429) log.refused({ ...fields, clientAddress: address }, 'page');
      else log.infoJson(jsonFields(fields), 'page');
    },
  };
  return { ...response, observer };
}
