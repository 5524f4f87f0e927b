// The layout of every page: its frame, its style and its HTTP headers. Pages have no scripts.
import { createHash } from 'node:crypto';
import { HEADERS, type HttpReply } from '@partner-loyalty/runtime';
import { type Html, html } from './html.ts';
import { STYLE } from './style.ts';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

const PAGE_HEADERS = {
  [HEADERS.contentType.name]: 'text/html; charset=utf-8',
  [HEADERS.contentSecurityPolicy.name]: [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  [HEADERS.referrerPolicy.name]: 'no-referrer',
  [HEADERS.robotsTag.name]: 'noindex',
};

/** A whole page. The title is also its heading. */
export function page(title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${{ html: STYLE }}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`.html;
}

/** Replies with a page. */
export function pageReply(
  status: number,
  body: string,
  headers: Record<string, string> = {},
): HttpReply {
  return { status, headers: { ...PAGE_HEADERS, ...headers }, body };
}
