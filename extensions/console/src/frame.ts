// The frame of the console's pages: who is signed in, for which partner, and the sections.
import type { Partner } from '@partner-loyalty/gateway/identity/keystore.ts';
import { POSTING } from '@partner-loyalty/gateway/pages/forms.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { noticeBox } from '@partner-loyalty/runtime/pages/cards.ts';
import { type Html, html, sentence } from '@partner-loyalty/runtime/pages/html.ts';
import {
  documentText,
  FORM_SCRIPT_SOURCE,
  pageHeaders,
} from '@partner-loyalty/runtime/pages/layout.ts';
import { FRAME_STYLE, PARTS_STYLE, textBeside } from '@partner-loyalty/runtime/pages/style.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Notice, Section } from './section.ts';
import type { SignedIn } from './sessions.ts';
import { CHOICE_PATH, CONSOLE_PATH } from './signin.ts';

const [CONSOLE, RECORDS] = ['console.css', 'records.css'].map((file) =>
  textBeside(import.meta.dirname, file),
);
const STYLE = `${FRAME_STYLE}${PARTS_STYLE}${CONSOLE}${RECORDS}`;
const SOURCES = [`script-src 'self' ${FORM_SCRIPT_SOURCE}`, "form-action 'self'"];
// Pages of others that open one, or that one opens, get no hold of its window.
const HEADERS = {
  ...pageHeaders(STYLE, SOURCES),
  'cross-origin-opener-policy': 'same-origin',
};
/** The script of the documentation, which copies code. */
const SCRIPT = html`<script type="module" src="/docs/app.js"></script>`;

export type ConsolePage = {
  title: string;
  content: Html;
  status?: number;
  /** Shown above the content. */
  notice?: Notice | undefined;
};

/**
 * The page for who is signed in. Without a partner it has no navigation; else that leads to the
 * sections, in their order.
 */
export function consolePage(
  { settings, sections }: { settings: Settings; sections: readonly Section[] },
  { path }: HttpRequest,
  { signedIn, partner }: { signedIn: SignedIn; partner?: Partner },
  { title, content, status = 200, notice }: ConsolePage,
): HttpResponse {
  const { environment, explorer } = settings;
  const { staff, places, cookies } = signedIn;
  const [first] = places;
  const link = (to: string, name: string) =>
    html`<li><a href="${to}"${to === path ? html` aria-current="page"` : ''}>${name}</a></li>`;
  const links = sections.map((section) => link(`${CONSOLE_PATH}/${section.name}`, section.title));
  const others = [
    link('/docs', 'Docs'),
    ...(explorer === 'on' ? [link('/explorer', 'Explorer')] : []),
  ];
  const body = html`<a class="skip" href="#main">Skip to the content</a>
<header class="bar">
<a class="mark" href="${CONSOLE_PATH}">Partner Loyalty</a>
<span class="badge ${environment}">${environment}</span>
${partner === undefined ? '' : partnerOf(partner, places.length > 1)}
<form class="person" method="post" action="${CONSOLE_PATH}/sign-out">
<span>${staff?.email ?? first?.email ?? ''}${staff === undefined ? '' : `, ${staff.role}`}</span>
<button>Sign out</button>
</form>
</header>
<div class="console">
${
  partner === undefined
    ? ''
    : html`<nav class="sections" aria-label="Console"><ul>${link(CONSOLE_PATH, 'Overview')}${links}</ul><ul>${others}</ul></nav>`
}
<main id="main" tabindex="-1">
<h1>${sentence(title)}</h1>
${notice === undefined ? '' : noticeBox(notice.text, notice.isProblem)}
${content}
</main>
</div>`;
  const name =
    partner === undefined || partner.name === title ? title : `${title} · ${partner.name}`;
  const text = documentText(name, STYLE, body, SCRIPT);
  const place = `$&<input type="hidden" name="${FORM_FOR}" value="${staff?.staffId}">`;
  return {
    status,
    headers: { ...HEADERS, ...(cookies.length > 0 && { 'set-cookie': cookies }) },
    body: staff === undefined ? text : text.replaceAll(POSTING, place),
  };
}

/** The field of a form with the place, at a partner, for which its page was shown. */
export const FORM_FOR = 'for';

function partnerOf({ name }: Partner, canSwitch: boolean): Html {
  const change = html` <a href="${CHOICE_PATH}">Switch</a>`;
  return html`<p class="partner"><strong><bdi>${name}</bdi></strong>${canSwitch ? change : ''}</p>`;
}
