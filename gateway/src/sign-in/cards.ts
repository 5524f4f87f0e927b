// The pages of /sign-in as HTML, with the member's data or a fixed text.
import { type Html, html } from '../pages/html.ts';
import { page, textPage } from '../pages/layout.ts';
import type { Link } from './links.ts';

/** What a link offers before it is redeemed: a button, which posts the token to `path`. */
export function linkPage({ title, text, button }: Link, token: string, path: string): string {
  return page(
    title,
    html`<p>${text}</p>
<form method="post" action="${path}">
<input type="hidden" name="token" value="${token}">
<button type="submit">${button}</button>
</form>`,
  );
}

/** Signed in, but the profile is unavailable: a button to try again. */
export function retryPage(session: string): string {
  const problem = 'Your profile is unavailable because something on our side is not responding.';
  return page(
    'You are signed in',
    html`${noticeBox({ text: problem, isProblem: true })}
<form method="post" action="/sign-in">
<input type="hidden" name="session" value="${session}">
<button type="submit">Try again</button>
</form>`,
  );
}

export type Profile = {
  email: string;
  firstName: string | null;
  lastName: string | null;
  membershipYearStats: { akinPoints: number; totalStays: number };
  /** `partner` is the name that members read. */
  partnerStandings: { partner: string; tier: string; points: number }[];
};

export type Notice = { text: string; isProblem: boolean };

/** The member's profile and a form to change the address. Screen readers read `notice` first. */
export function profilePage(profile: Profile, session: string, notice?: Notice): string {
  const { email, firstName, lastName, membershipYearStats, partnerStandings } = profile;
  const name = [firstName, lastName].filter((part) => part !== null).join(' ');
  return page(
    'Your profile',
    html`${notice ? noticeBox(notice) : ''}
<dl>
${name === '' ? '' : html`<dt>Name</dt><dd>${name}</dd>`}
<dt>Email</dt><dd>${email}</dd>
<dt>Points this year</dt><dd>${formatNumber(membershipYearStats.akinPoints)}</dd>
<dt>Stays this year</dt><dd>${formatNumber(membershipYearStats.totalStays)}</dd>
</dl>
<h2 id="standing">Your standing</h2>
${standingTable(partnerStandings)}
${emailForm(session)}
<form method="post" action="/sign-in" class="end">
<p class="soft">You are signed in for an hour, or until you close the browser.</p>
<button type="submit" name="sign-out" value="yes">Sign out</button>
</form>`,
  );
}

function standingTable(standings: Profile['partnerStandings']): Html {
  if (standings.length === 0) return html`<p>You are not enrolled with any partner.</p>`;
  const rows = standings.map(
    ({ partner, tier, points }) => html`<tr>
<th scope="row">${partner}</th><td>${tier}</td><td class="number">${formatNumber(points)}</td>
</tr>`,
  );
  return html`<table aria-labelledby="standing">
<thead><tr>
<th scope="col">Partner</th><th scope="col">Tier</th><th scope="col" class="number">Points</th>
</tr></thead>
<tbody>${rows}</tbody>
</table>`;
}

function emailForm(session: string): Html {
  return html`<h2>Change your email address</h2>
<p class="soft" id="how">We send a link to the new address. Nothing changes until you open it.</p>
<form method="post" action="/sign-in">
<input type="hidden" name="session" value="${session}">
<label for="email">New email address</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254" spellcheck="false"
 aria-describedby="how" required>
<button type="submit">Send the link</button>
</form>`;
}

function noticeBox({ text, isProblem }: Notice): Html {
  return isProblem
    ? html`<p class="notice problem" role="alert">${text}</p>`
    : html`<p class="notice" role="status">${text}</p>`;
}

function formatNumber(number: number): string {
  return number.toLocaleString('en');
}

export const INVALID_LINK = textPage(
  'This link does not work',
  'It has already been used, it has expired, or it is incomplete. Please request a new one.',
);
export const ADDRESS_IN_USE = textPage(
  'This address cannot be used',
  'It belongs to another member. Your address has not changed.',
);
export const ADDRESS_LOCKED = textPage(
  'Your membership is protected',
  'Until we have looked into it, nobody can sign in by email or change the address. ' +
    'Please contact us.',
);
export const TOO_MANY_ATTEMPTS = textPage(
  'Too many attempts',
  'Please wait a minute and try again.',
);
export const FOREIGN_FORM = textPage(
  'This form was not sent from our page',
  'Please open the link in your mail again.',
);
export const SIGN_IN_ELSEWHERE = textPage(
  'You cannot sign in here',
  'Please sign in where you usually do. Your link has not been used.',
);
export const SESSION_ENDED = textPage(
  'You are signed out',
  'Your session has ended. Please request a new link.',
);
export const SIGNED_OUT = textPage(
  'You are signed out',
  'To see your profile again, please request a new link.',
);
export const WRONG_METHOD = textPage(
  'This page does not support that',
  'Please open the link in your mail.',
);
