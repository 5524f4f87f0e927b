// The pages of the console that belong to no section: the overview, and the choice of a partner.
import { keyPrefix } from '@partner-loyalty/gateway/identity/apikey.ts';
import type { KeyStore, Partner } from '@partner-loyalty/gateway/identity/keystore.ts';
import type { Staff } from '@partner-loyalty/gateway/identity/staff.ts';
import { html } from '@partner-loyalty/runtime/pages/html.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { ConsolePage } from './frame.ts';
import { facts, shownNumber } from './parts.ts';
import type { Section } from './section.ts';
import { CHOICE_PATH, CONSOLE_PATH } from './signin.ts';

export const NO_PAGE: ConsolePage = {
  title: 'There is no such page',
  content: html`<p><a href="${CONSOLE_PATH}">Overview</a></p>`,
  status: 404,
};

export function suspendedPage(canSwitch: boolean): ConsolePage {
  const change = html`<p><a href="${CHOICE_PATH}">Switch to another partner</a></p>`;
  return {
    title: 'Your company is suspended',
    content: html`<p>Its keys and the tokens that it holds are refused, and its webhooks are disabled. Ask
the operator of this service why, and how to end the suspension.</p>${canSwitch ? change : ''}`,
    status: 403,
  };
}

export function overviewPage(
  partner: Partner,
  sections: readonly Section[],
  { environment, rateLimitBudget, rateLimitWindowSeconds }: Settings,
  ownUrl: string,
): ConsolePage {
  const { budget = rateLimitBudget } = partner;
  const cards = sections.map(
    ({ name, title, about }) =>
      html`<li><h2><a href="${CONSOLE_PATH}/${name}">${title}</a></h2><p>${about}</p></li>`,
  );
  const about = facts([
    ['Partner ID', html`<code>${partner.partnerId}</code>`],
    [
      'Endpoint',
      html`<code>POST ${ownUrl}/graphql</code>, for keys that begin with
<code>${keyPrefix(environment)}</code>`,
    ],
    [
      'Budget',
      html`${shownNumber(budget)} in ${rateLimitWindowSeconds} seconds, for each key.
<a href="/docs#limits">Limits</a>`,
    ],
  ]);
  return { title: partner.name, content: html`${about}<ul class="cards">${cards}</ul>` };
}

/** The choice between the partners that somebody is staff of. */
export async function choicePage(
  keys: Pick<KeyStore, 'partner'>,
  places: readonly Staff[],
): Promise<ConsolePage> {
  const named = await Promise.all(
    places.map(async (staff) => {
      const partner = await keys.partner(staff.partnerId);
      return { ...staff, name: partner?.name ?? staff.partnerId };
    }),
  );
  const rows = named.map(
    ({ staffId, name, role }) => html`<li>
<button name="staffId" value="${staffId}" class="quiet"><strong><bdi>${name}</bdi></strong> ${role}</button></li>`,
  );
  return {
    title: 'Choose a partner',
    content: html`<form method="post" action="${CHOICE_PATH}"><ul class="choice">${rows}</ul></form>`,
  };
}
