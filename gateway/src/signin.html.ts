// The words and looks of the sign-in page: plain HTML without a script, so that it works with any policy, reader and phone.
import { createHash } from 'node:crypto';

const STYLE = `:root{color-scheme:light dark}*{box-sizing:border-box}
body{margin:0;font:1.0625rem/1.5 system-ui,sans-serif;color:CanvasText;background:Canvas}
main{max-width:32rem;margin:0 auto;padding:2.5rem 1.25rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem}h2{font-size:1.125rem;margin:2rem 0 .5rem}
label{display:block;font-weight:600;margin-bottom:.25rem}
input,button{font:inherit;width:100%;padding:.75rem;border-radius:.5rem;border:1px solid GrayText}
button{margin-top:.75rem;border:0;background:#0b5394;color:#fff;font-weight:600;cursor:pointer}
button:focus-visible,input:focus-visible,a:focus-visible{outline:3px solid #e69138;outline-offset:2px}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.375rem .5rem .375rem 0;border-bottom:1px solid GrayText}
td.number,th.number{text-align:right;padding-right:0;font-variant-numeric:tabular-nums}
.notice{border-left:.25rem solid #0b5394;padding:.5rem .75rem;margin:0 0 1.25rem}.problem{border-color:#cc0000}
dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1rem;margin:0}dt{font-weight:600}dd{margin:0;overflow-wrap:anywhere}`;

/** The only style the page's policy lets in. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/** Text that is HTML already; everything else is escaped where it is put in. */
export type Html = { html: string };

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Puts values into HTML: strings and numbers escaped, Html and lists of it as they are. */
export function html(parts: TemplateStringsArray, ...values: (string | number | Html | Html[])[]): Html {
  return { html: parts.reduce((text, part, index) => text + written(values[index - 1] ?? '') + part) };
}

function written(value: string | number | Html | Html[]): string {
  if (Array.isArray(value)) return value.map(({ html }) => html).join('');
  return typeof value === 'object' ? value.html : String(value).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

/** A whole page. The title says where one is and is the heading too. */
export function page(title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
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

/** A page that only says something. */
export function noticePage(title: string, text: string): string {
  return page(title, html`<p>${text}</p>`);
}

export type Profile = {
  email: string;
  firstName: string | null;
  lastName: string | null;
  membershipYearStats: { akinPoints: number; totalStays: number };
  partnerStandings: { partnerId: string; tier: string; points: number }[];
};

/** The member's profile, with a form to ask for another address. `notice` is read out first. */
export function profilePage(profile: Profile, session: string, notice?: { text: string; problem: boolean }): string {
  const name = [profile.firstName, profile.lastName].filter((part) => part !== null).join(' ');
  const rows = profile.partnerStandings.map(
    ({ partnerId, tier, points }) => html`<tr><td>${partnerId}</td><td>${tier}</td><td class="number">${points}</td></tr>`,
  );
  const standings = html`<table>
<thead><tr><th scope="col">Partner</th><th scope="col">Tier</th><th scope="col" class="number">Points</th></tr></thead>
<tbody>${rows}</tbody>
</table>`;
  return page(
    'Your profile',
    html`${notice ? html`<p class="notice${notice.problem ? ' problem' : ''}" role="${notice.problem ? 'alert' : 'status'}">${notice.text}</p>` : ''}
<dl>
${name === '' ? '' : html`<dt>Name</dt><dd>${name}</dd>`}
<dt>Email</dt><dd>${profile.email}</dd>
<dt>Points this year</dt><dd>${profile.membershipYearStats.akinPoints}</dd>
<dt>Stays this year</dt><dd>${profile.membershipYearStats.totalStays}</dd>
</dl>
<h2>Your standing</h2>
${rows.length === 0 ? html`<p>You are not enrolled with a partner at the moment.</p>` : standings}
<h2>Change your email address</h2>
<p>We send a link to the new address; nothing changes before it is opened.</p>
<form method="post" action="/sign-in">
<input type="hidden" name="session" value="${session}">
<label for="email">New email address</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254" required>
<button type="submit">Send the link</button>
</form>`,
  );
}
