// The pages of the section for webhooks as HTML.
import {
  MAX_WAITING,
  type Webhook,
  type WebhookDelivery,
  type WebhookSummary,
} from '@partner-loyalty/runtime/manage/webhooks.ts';
import { codeBlock } from '../pages/frame.ts';
import { type Html, html } from '../pages/html.ts';
import { noticeBox } from '../sign-in/cards.ts';
import { actionForm, confirmed, timeText } from './frame.ts';
import { empty, facts, stateText } from './parts.ts';

const GUIDE = html`<a href="/docs/guides/events-and-webhooks">How webhooks work</a>`;

type List = { webhooks: WebhookSummary[]; eventTypes: string[] };
type Shown = { webhook: WebhookSummary; deliveries: WebhookDelivery[]; eventTypes: string[] };

export function listPage({ webhooks, eventTypes }: List, isAdmin: boolean): Html {
  const isEmpty = webhooks.length === 0;
  const items = webhooks.map((webhook) => {
    const { webhookId, url, types, waiting, last } = webhook;
    const outcome = last && html`${stateText(last.outcome)} ${timeText(new Date(last.at))}`;
    return html`<li class="row"><h2><a href="${pathOf(webhookId)}">${url}</a> ${stateOf(webhook)}</h2>
${facts([
  ['Events', typesText(types)],
  ['Waiting', waitingText(waiting)],
  ['Last message', outcome ?? 'None yet'],
])}</li>`;
  });
  const none = isAdmin
    ? 'Add the https URL of your own system that is to receive events. You get a secret with which it checks our signature.'
    : 'An admin of your company can add one here.';
  const fields = targetFields('', undefined, eventTypes);
  return html`<p class="soft">We send what changes for your members to your endpoints, signed, and again
until you have it. ${GUIDE}</p>
${isEmpty ? empty('No endpoints yet', none) : html`<ul class="rows">${items}</ul>`}
${
  isAdmin
    ? html`<details class="new"${isEmpty ? html` open` : ''}><summary>Add an endpoint</summary>
${actionForm('webhooks', 'create', 'Add endpoint', fields)}</details>`
    : ''
}`;
}

export function endpointPage({ webhook, deliveries, eventTypes }: Shown, isAdmin: boolean): Html {
  const { webhookId, url, types, waiting, createdAt } = webhook;
  return html`<p><a href="/console/webhooks">All endpoints</a></p>
<h2>${url} ${stateOf(webhook)}</h2>
${warningOf(webhook)}
${facts([
  ['ID', html`<code>${webhookId}</code>`],
  ['Events', typesText(types)],
  ['Waiting', waitingText(waiting)],
  ['Created', timeText(new Date(createdAt))],
])}
${isAdmin ? changes(webhook, eventTypes) : ''}
<h2 id="messages" class="next">Latest messages</h2>
${deliveryList(deliveries, webhook, isAdmin)}`;
}

/** Forms of an endpoint lead to its own page, which shows what is wrong. */
function endpointForm(
  { webhookId }: Webhook,
  ...[action, button, content, kind]: [name: string, text: string, content?: Html, kind?: string]
): Html {
  return actionForm(`webhooks?webhook=${webhookId}`, action, button, content, kind);
}

function changes(webhook: Webhook, eventTypes: string[]): Html {
  const { url, types, state } = webhook;
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString().slice(0, 16);
  const replaying = html`<p>Your system gets events that it has seen once more, with the same
<code>webhook-id</code>.</p>
${endpointForm(
  webhook,
  'replay',
  'Send again',
  html`<label for="since">Since, in UTC</label>
<input id="since" name="since" type="datetime-local" value="${hourAgo}" required>`,
)}`;
  const rotating = html`<p>You see the new secret once. For 24 hours, we sign with the former one too, so
that your system can change over.</p>${endpointForm(webhook, 'rotate', 'Create a new secret')}`;
  const removing = html`<p>What waits for it is given up, and its messages are no longer listed. There is
no undoing it.</p>${endpointForm(webhook, 'remove', 'Remove this endpoint', html``, 'danger')}`;
  const isActive = state === 'active';
  return html`<div class="actions">${endpointForm(webhook, 'test', 'Send a test', html``, 'plain')}
${endpointForm(webhook, isActive ? 'disable' : 'enable', isActive ? 'Disable' : 'Enable', html``, 'plain')}
${confirmed('Edit', endpointForm(webhook, 'edit', 'Save', targetFields(url, types, eventTypes)))}
${isActive ? confirmed('Send events again', replaying) : ''}
${confirmed('New secret', rotating)}${confirmed('Remove', removing)}</div>`;
}

/** The secret is on this page alone. */
export function secretPage(
  { webhook, secret }: { webhook: Webhook; secret: string },
  isNew: boolean,
): Html {
  return html`${noticeBox(isNew ? 'The endpoint is ready.' : 'The endpoint has a new secret.', false)}
<p>Save the secret of <strong>${webhook.url}</strong> now: it is not shown again. ${GUIDE}</p>
${codeBlock('Secret', secret)}
<p><a href="${pathOf(webhook.webhookId)}">I have saved it: go to the endpoint</a></p>`;
}

export function outcomePage(webhookId: string, text: string, isProblem = false): Html {
  return html`${noticeBox(text, isProblem)}
<p><a href="${pathOf(webhookId)}">Back to the endpoint</a></p>`;
}

export function testText(sent: WebhookDelivery | undefined): string {
  if (sent === undefined)
    return 'The test is on its way. Its outcome will be among the latest messages, within 15 seconds.';
  const not = sent.outcome === 'delivered' ? '' : 'not ';
  return `The test was ${not}delivered: ${answerOf(sent)}.`;
}

function pathOf(webhookId: string): string {
  return `/console/webhooks?webhook=${encodeURIComponent(webhookId)}`;
}

function typesText(types: string[] | undefined): string {
  return types === undefined ? 'All types' : types.join(', ');
}

function waitingText(waiting: number): string {
  if (waiting === 0) return 'Nothing';
  return waiting < MAX_WAITING ? `${waiting} events` : `${MAX_WAITING} events or more`;
}

function stateOf({ state, failingSince }: Webhook): Html {
  return stateText(state === 'active' && failingSince !== undefined ? 'failing' : state);
}

const DISABLED = {
  COMMAND: 'The operator of this service has disabled it.',
  CONSOLE: 'Your staff has disabled it.',
  SUSPENDED: 'It was disabled while you were suspended.',
  GONE: 'It answered 410, which says that it is gone, so we have disabled it.',
  FAILING: 'Five days long, no message got through, so we have disabled it.',
};

function warningOf({ state, disabledBecause, failingSince }: Webhook): Html {
  if (state === 'disabled') {
    const why = disabledBecause === undefined ? '' : DISABLED[disabledBecause];
    const then =
      'Enable it to get what happens from then on, then send the events again that it missed.';
    return noticeBox(`${why} ${then}`, true);
  }
  if (failingSince === undefined) return html``;
  return html`<p class="notice problem" role="alert">No message has got through since
${timeText(new Date(failingSince))}. We go on trying; after five days, we disable the endpoint. Send a test to see
what it answers.</p>`;
}

function targetFields(url: string, types: string[] | undefined, eventTypes: string[]): Html {
  const choice = (kind: string, name: string, value: string, isSet: boolean, text: string | Html) =>
    html`<label class="box"><input type="${kind}" name="${name}" value="${value}"${
      isSet ? html` checked` : ''
    }> <span>${text}</span></label>`;
  const isAll = types === undefined;
  const boxes = eventTypes.map((type) =>
    choice('checkbox', 'type', type, types?.includes(type) === true, html`<code>${type}</code>`),
  );
  return html`<label for="url">URL</label>
<input id="url" name="url" type="url" value="${url}" maxlength="2048" placeholder="https://example.com/webhooks"
 autocomplete="off" spellcheck="false" required>
<fieldset class="events"><legend>Events</legend>
${choice('radio', 'events', 'all', isAll, 'All types, those to come too')}
${choice('radio', 'events', 'some', !isAll, 'Only these')}
<div class="types">${boxes}</div>
</fieldset>`;
}

function deliveryList(deliveries: WebhookDelivery[], webhook: Webhook, isAdmin: boolean): Html {
  if (deliveries.length === 0)
    return empty(
      'No messages yet',
      'Send a test, or wait for the first event. The last 100 delivered and the last 100 given up are listed here.',
    );
  const rows = deliveries.map((one) => {
    const event = html`<input type="hidden" name="event" value="${one.id}">`;
    const again = endpointForm(webhook, 'resend', 'Send again', event, 'plain');
    return html`<li class="row"><h3>${one.type} ${stateText(one.outcome)}</h3>
<p class="soft"><code>${one.id}</code><br>${timeText(new Date(one.at))}, ${answerOf(one)}</p>
${isAdmin && webhook.state === 'active' && one.isEvent ? again : ''}</li>`;
  });
  return html`<ul class="rows messages" aria-labelledby="messages">${rows}</ul>`;
}

const REASONS: Readonly<Record<string, string>> = {
  ADDRESS: 'webhooks may not go to its address',
  DNS: 'its name was not found',
  REFUSED: 'no connection',
  TLS: 'no valid certificate',
  TIMEOUT: 'no answer within 15 seconds',
  CONNECTION: 'the connection broke',
  SECRET: 'its secret cannot be read here',
};

function answerOf({ status, reason = '', durationMs, attempts }: WebhookDelivery): string {
  const answer = status === undefined ? (REASONS[reason] ?? reason) : `status ${status}`;
  return `${answer}, ${durationMs} ms${attempts > 1 ? `, attempt ${attempts}` : ''}`;
}
