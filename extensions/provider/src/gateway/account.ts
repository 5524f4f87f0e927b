// The account page as HTML: what a member is, has allowed and may change.

import { fill } from '@partner-loyalty/runtime/fill.ts';
import { isolated } from '@partner-loyalty/runtime/input.ts';
import { form, noticeBox, ownerLine, submit } from '@partner-loyalty/runtime/pages/cards.ts';
import { type Html, html, sentence } from '@partner-loyalty/runtime/pages/html.ts';
import type { Texts } from '@partner-loyalty/runtime/pages/language.ts';
import { page } from '@partner-loyalty/runtime/pages/layout.ts';
import type { Account } from '@partner-loyalty/runtime/signin/exchange.ts';
import * as time from '@partner-loyalty/runtime/time.ts';

/** Lines do not break it. */
const timeText = (at: Date | number) => time.timeText(at).replaceAll(' ', '\u00a0');

/** The profile as the API shows it to the member. */
export type Profile = {
  email: string;
  firstName: string | null;
  lastName: string | null;
  membershipYearStats: { akinPoints: number; totalStays: number };
  standings: Standing[];
};
type Standing = {
  partnerId: string;
  /** The name that members read. */
  partner: string;
  tier: string;
  tierValidUntil: string;
  points: number;
  /** Null at the top. */
  nextTier: string | null;
  pointsToNextTier: number | null;
  yearEnd: string;
};

export function accountPage(account: Account, profile: Profile, texts: Texts, isSandbox: boolean) {
  const { action, notice } = account;
  const { standings } = profile;
  const { account: words, language } = texts;
  const content = html`${notice === undefined ? '' : noticeOf(notice, words)}
${profileList(profile, texts)}
<h2 id="standing">${words.standing}</h2>
${standingTable(standings, texts)}
${account.isLimited ? html`<p class="soft">${words.limited}</p>` : changes(action, profile, words)}
${lists(account, standings, texts)}
${form(
  action,
  html`<p class="soft">${words.signedIn}</p>
<button name="sign-out" value="yes" class="quiet">${words.signOut}</button>`,
  'end',
)}`;
  return page(words.title, content, language, ownerLine(undefined, isSandbox));
}

/** The forms that change the address and the names. */
function changes(action: string, { firstName, lastName }: Profile, words: Words): Html {
  return html`<h2>${words.address}</h2>
<p class="soft" id="how">${words.addressHint}</p>
${form(
  action,
  html`<label for="email">${words.newAddress}</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254"
 spellcheck="false" aria-describedby="how" required>
<button name="new-email" value="yes">${words.sendLink}</button>`,
)}
<h2>${words.names}</h2>
${form(
  action,
  html`<label for="first">${words.firstName}</label>
<input id="first" name="firstName" autocomplete="given-name" maxlength="100" value="${firstName ?? ''}">
<label for="last">${words.lastName}</label>
<input id="last" name="lastName" autocomplete="family-name" maxlength="100" value="${lastName ?? ''}">
<button class="plain">${words.saveNames}</button>`,
)}`;
}

/** Signed in, but the profile is unavailable: a button to try again. */
export function retryPage(action: string, { account: words, language }: Texts): string {
  const content = html`${noticeBox(words.retryText, true)}
<form method="get" action="${action}">${submit(words.retryButton)}</form>`;
  return page(words.retry, content, language);
}

type Words = Texts['account'];

function noticeOf(notice: NonNullable<Account['notice']>, { notices }: Words): Html {
  if (notice.name === 'linkSent') return noticeBox(fill(notices.linkSent, notice), false);
  return noticeBox(notices[notice.name], notice.name.startsWith('invalid'));
}

function profileList(profile: Profile, { account: words, language }: Texts): Html {
  const { email, firstName, lastName, membershipYearStats } = profile;
  const name = [firstName, lastName].filter((part) => part !== null).join(' ');
  return html`<dl>
${name === '' ? '' : html`<dt>${words.name}</dt><dd><bdi>${name}</bdi></dd>`}
<dt>${words.email}</dt><dd>${email}</dd>
<dt>${words.points}</dt><dd>${membershipYearStats.akinPoints.toLocaleString(language)}</dd>
<dt>${words.stays}</dt><dd>${membershipYearStats.totalStays.toLocaleString(language)}</dd>
</dl>`;
}

function standingTable(standings: readonly Standing[], { account: words, language }: Texts): Html {
  if (standings.length === 0) return html`<p>${words.notEnrolled}</p>`;
  const rows = standings.map(
    ({ partner, tier, points }) => html`<tr>
<th scope="row"><bdi>${partner}</bdi></th><td><bdi>${tier}</bdi></td>
<td class="number">${points.toLocaleString(language)}</td>
</tr>`,
  );
  const outlooks = standings.map((one) => {
    const [tier, partner] = [isolated(one.tier), isolated(one.partner)];
    const until = timeText(new Date(one.tierValidUntil));
    const next = {
      points: (one.pointsToNextTier ?? 0).toLocaleString(language),
      time: timeText(new Date(one.yearEnd)),
      tier: isolated(one.nextTier ?? ''),
    };
    return html`<p class="soft">${sentence(fill(words.until, { partner, tier, time: until }))}
${one.nextTier === null ? '' : sentence(fill(words.next, next))}</p>`;
  });
  return html`<table aria-labelledby="standing">
<thead><tr><th scope="col">${words.partner}</th><th scope="col">${words.tier}</th>
<th scope="col" class="number">${words.pointsThere}</th></tr></thead>
<tbody>${rows}</tbody>
</table>
${outlooks}`;
}

/** The enrollments, apps and sessions, each with a button that ends it. */
function lists(
  { action, apps, sessions }: Account,
  standings: readonly Standing[],
  { account: words, language }: Texts,
): Html {
  /** Each item has a text, the value that its button sends, if any, and a warning to read first. */
  function list(
    name: string,
    title: string,
    button: string,
    items: [text: string, value?: string, warning?: string][],
  ): Html {
    if (items.length === 0) return html``;
    const rows = items.map(([text, value, warning], index) => {
      const content = html`<button name="${name}" value="${value ?? ''}" class="plain"
 aria-describedby="${name}-${index}">${button}</button>`;
      const sender = value === undefined ? html`` : form(action, content);
      const asking = html`<details><summary aria-describedby="${name}-${index}">${button}</summary>
<p>${sentence(warning ?? '')}</p>${sender}</details>`;
      return html`<li><span id="${name}-${index}">${sentence(text)}</span>
${warning === undefined ? sender : asking}</li>`;
    });
    return html`<h2 id="${name}">${title}</h2>
<ul class="list" aria-labelledby="${name}">${rows}</ul>`;
  }

  const used = apps.map(({ clientId, appName, partnerName, agreedAt }): [string, string] => [
    fill(words.app, {
      app: isolated(appName),
      partner: isolated(partnerName),
      time: timeText(agreedAt),
    }),
    clientId,
  ]);
  // Signing out ends the session of this browser.
  const open = sessions.map(({ sessionId, browser, usedAt, isThis }): [string, string?] => {
    const text = fill(words.session, {
      browser: isThis ? `${browser} (${words.thisSession})` : browser,
      time: timeText(usedAt),
    });
    return isThis ? [text] : [text, sessionId];
  });
  const enrolled = standings.map(
    ({ partner, partnerId, tier, points }): [string, string, string] => {
      const name = isolated(partner);
      const lost = { partner: name, tier: isolated(tier), points: points.toLocaleString(language) };
      return [name, partnerId, fill(words.leaveText, lost)];
    },
  );
  return html`${list('leave', words.enrollments, words.leave, enrolled)}
${list('revoke', words.apps, words.revoke, used)}
${list('end', words.sessions, words.endSession, open)}`;
}
