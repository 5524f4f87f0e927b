// The words and looks of the sign-in page: plain HTML without a script, so that it works with any policy, reader and phone.
import { createHash } from 'node:crypto';

const STYLE = `:root{color-scheme:light dark;--page:#f3f5f8;--card:#fff;--text:#1b2430;--soft:#566273;--line:#d5dbe3;--field:#7b8794;--accent:#0b57a4;--on-accent:#fff;--good:#e6f1fb;--bad:#fdeceb;--bad-line:#b3261e}
@media (prefers-color-scheme:dark){:root{--page:#11161d;--card:#1a212b;--text:#e8edf3;--soft:#a7b3c2;--line:#333e4c;--field:#7f8c9b;--accent:#8ec5ff;--on-accent:#0b1a2b;--good:#16293d;--bad:#3a1d1d;--bad-line:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;font:1.0625rem/1.55 system-ui,sans-serif;color:var(--text);background:var(--page)}
main{max-width:34rem;margin:clamp(0rem,6vw,4rem) auto;padding:2rem clamp(1.25rem,5vw,2.5rem) 2.5rem;background:var(--card);border:1px solid var(--line);border-radius:1rem}
@media (max-width:36rem){body{background:var(--card)}main{border:0}}
h1{font-size:1.625rem;line-height:1.25;letter-spacing:-.01em;margin:0 0 1.25rem;text-wrap:balance}
h2{font-size:1.125rem;margin:2.25rem 0 .5rem}
p{margin:0 0 1rem}.end{margin:2rem 0 0}.soft{color:var(--soft);font-size:.9375rem}
label{display:block;font-weight:600;margin-bottom:.375rem}
input,button{font:inherit;width:100%;min-height:3rem;padding:.625rem .875rem;border-radius:.5rem}
input{color:inherit;background:var(--card);border:1px solid var(--field)}
button{margin-top:.75rem;border:1px solid transparent;background:var(--accent);color:var(--on-accent);font-weight:600;cursor:pointer}
button:hover{filter:brightness(1.08)}button:active{filter:brightness(.92)}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.5rem .75rem .5rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
thead th{color:var(--soft);font-size:.875rem;font-weight:600}tbody th{font-weight:400}
.number{text-align:right;padding-right:0;font-variant-numeric:tabular-nums}
.notice{border-left:.25rem solid var(--accent);border-radius:.25rem;background:var(--good);padding:.75rem 1rem;margin:0 0 1.5rem;overflow-wrap:anywhere}.problem{border-color:var(--bad-line);background:var(--bad)}
dl{display:grid;grid-template-columns:auto 1fr;gap:.375rem 1.5rem;margin:0}dt{color:var(--soft)}dd{margin:0;font-weight:600;overflow-wrap:anywhere}
@media (max-width:26rem){dl{display:block}dd{margin-bottom:.5rem}}`;

/** The only style the page's policy lets in. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/** Text that is HTML already; everything else is escaped where it is put in. */
export type Html = { html: string };

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Puts values into HTML: strings and numbers escaped, Html and lists of it as they are. */
export function html(
  parts: TemplateStringsArray,
  ...values: (string | number | Html | Html[])[]
): Html {
  return {
    html: parts.reduce((text, part, index) => text + written(values[index - 1] ?? '') + part),
  };
}

function written(value: string | number | Html | Html[]): string {
  if (Array.isArray(value)) return value.map(({ html }) => html).join('');
  return typeof value === 'object'
    ? value.html
    : String(value).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

/** A whole page. The title says where one is and is the heading too. */
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

/** What a link offers before anything is used up: a button. `what` says what pressing it does. */
export function offerPage(title: string, what: string, button: string, token: string): string {
  return page(
    title,
    html`<p>${what}</p>
<form method="post" action="/sign-in">
<input type="hidden" name="token" value="${token}">
<button type="submit">${button}</button>
</form>`,
  );
}

/** Signed in, but without a profile to show at the moment: a button that tries again. */
export function retryPage(session: string): string {
  return page(
    'You are signed in',
    html`<p class="notice problem" role="alert">Your profile cannot be shown right now, because something does not answer on our side.</p>
<form method="post" action="/sign-in">
<input type="hidden" name="session" value="${session}">
<button type="submit">Try again</button>
</form>`,
  );
}

/** A page that only says something. */
export function noticePage(title: string, text: string): string {
  return page(title, html`<p>${text}</p>`);
}

export type Profile = {
  email: string;
  firstName: string | null;
  lastName: string | null;
  membershipYearStats: { akinPoints: number; totalStays: number };
  /** `partner` as members read it. */
  partnerStandings: { partner: string; tier: string; points: number }[];
};

export type Notice = { text: string; problem: boolean };

/** The member's profile, with a form to ask for another address. `notice` is read out first. */
export function profilePage(profile: Profile, session: string, notice?: Notice): string {
  const { email, firstName, lastName, membershipYearStats, partnerStandings } = profile;
  const name = [firstName, lastName].filter((part) => part !== null).join(' ');
  const rows = partnerStandings.map(
    ({ partner, tier, points }) =>
      html`<tr><th scope="row">${partner}</th><td>${tier}</td><td class="number">${count(points)}</td></tr>`,
  );
  return page(
    'Your profile',
    html`${notice ? noticeBox(notice) : ''}
<dl>
${name === '' ? '' : html`<dt>Name</dt><dd>${name}</dd>`}
<dt>Email</dt><dd>${email}</dd>
<dt>Points this year</dt><dd>${count(membershipYearStats.akinPoints)}</dd>
<dt>Stays this year</dt><dd>${count(membershipYearStats.totalStays)}</dd>
</dl>
<h2 id="standing">Your standing</h2>
${
  rows.length === 0
    ? html`<p>You are not enrolled with a partner at the moment.</p>`
    : html`<table aria-labelledby="standing">
<thead><tr><th scope="col">Partner</th><th scope="col">Tier</th><th scope="col" class="number">Points</th></tr></thead>
<tbody>${rows}</tbody>
</table>`
}
<h2>Change your email address</h2>
<p class="soft" id="how">We send a link to the new address. Nothing changes before it is opened.</p>
<form method="post" action="/sign-in">
<input type="hidden" name="session" value="${session}">
<label for="email">New email address</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254" spellcheck="false" aria-describedby="how" required>
<button type="submit">Send the link</button>
</form>
<p class="soft end">You are signed in on this page alone: closing it signs you out.</p>`,
  );
}

function noticeBox({ text, problem }: Notice): Html {
  return problem
    ? html`<p class="notice problem" role="alert">${text}</p>`
    : html`<p class="notice" role="status">${text}</p>`;
}

function count(number: number): string {
  return number.toLocaleString('en');
}
