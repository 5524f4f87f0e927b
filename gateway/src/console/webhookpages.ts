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
import { action, badge, disclosure, empty, facts, utc } from './parts.ts';

const PATH = '/console/webhooks';
const GUIDE = html`<a href="/docs/guides/events-and-webhooks">How webhooks work</a>`;

type List = { webhooks: WebhookSummary[]; eventTypes: string[] };
type Shown = { webhook: WebhookSummary; deliveries: WebhookDelivery[]; eventTypes: string[] };

export function listPage({ webhooks, eventTypes }: List, isAdmin: boolean): Html {
  const isEmpty = webhooks.length === 0;
  const items = webhooks.map((webhook) => {
    const link = html`<a href="${pathOf(webhook.webhookId)}">${webhook.url}</a>`;
    const { types, waiting, last } = webhook;
    return html`<li><div class="line"><h2>${link}</h2>${stateOf(webhook)}</div>
${facts([
  ['Events', types === undefined ? 'All types' : types.join(', ')],
  ['Waiting', waitingText(waiting)],
  ['Last message', last === undefined ? 'None yet' : html`${outcomeOf(last)} ${utc(last.at)}`],
])}</li>`;
  });
  const adding = action(
    PATH,
    ['create', 'Add endpoint', 'main'],
    {},
    targetFields('', undefined, eventTypes),
  );
  return html`<p class="soft">We send what changes for your members to your endpoints, signed, and again
until you have it. ${GUIDE}</p>
${
  isEmpty
    ? empty(
        'No endpoints yet',
        isAdmin
          ? 'Add the https URL of your own system that is to receive events. You get a secret with which it checks our signature.'
          : 'An admin among your staff can add one here.',
      )
    : html`<ul class="cases">${items}</ul>`
}
${isAdmin ? disclosure('Add an endpoint', adding, isEmpty) : ''}`;
}

export function endpointPage({ webhook, deliveries, eventTypes }: Shown, isAdmin: boolean): Html {
  const { webhookId, url, types, waiting, createdAt } = webhook;
  return html`<p><a href="${PATH}">All endpoints</a></p>
<div class="line"><h2>${url}</h2>${stateOf(webhook)}</div>
${warningOf(webhook)}
${facts([
  ['ID', html`<code>${webhookId}</code>`],
  ['Events', types === undefined ? 'All types' : types.join(', ')],
  ['Waiting', waitingText(waiting)],
  ['Created', utc(createdAt)],
])}
${isAdmin ? changes(webhook, eventTypes) : ''}
<h3 id="messages">Latest messages</h3>
${deliveryList(deliveries, isAdmin ? webhook : undefined)}`;
}

function changes({ webhookId, url, types, state }: Webhook, eventTypes: string[]): Html {
  const of = { webhook: webhookId };
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString().slice(0, 16);
  const toggle =
    state === 'active'
      ? action(PATH, ['disable', 'Disable'], of)
      : action(PATH, ['enable', 'Enable', 'main'], of);
  const replaying = html`<p>Your system gets events that it has seen once more, with the same
<code>webhook-id</code>.</p>
<label for="since">Since, in UTC</label>
<input id="since" name="since" type="datetime-local" value="${hourAgo}" required>`;
  const rotating = html`<p>You see the new secret once. For 24 hours, we sign with the former one too, so
that your system can change over.</p>`;
  const removing = html`<p>What waits for it is given up, and its messages are no longer listed. There is
no undoing it.</p>`;
  return html`<div class="line">${action(PATH, ['test', 'Send a test'], of)}${toggle}</div>
${disclosure('Edit', action(PATH, ['edit', 'Save', 'main'], of, targetFields(url, types, eventTypes)))}
${state === 'active' ? disclosure('Send events again', action(PATH, ['replay', 'Send again', 'main'], of, replaying)) : ''}
${disclosure('New secret', action(PATH, ['rotate', 'Create a new secret', 'main'], of, rotating))}
${disclosure('Remove', action(PATH, ['remove', 'Remove this endpoint', 'danger'], of, removing))}`;
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
  return `${PATH}?webhook=${encodeURIComponent(webhookId)}`;
}

function waitingText(waiting: number): string {
  if (waiting === 0) return 'Nothing';
  return waiting < MAX_WAITING ? `${waiting} events` : `${MAX_WAITING} events or more`;
}

function stateOf({ state, failingSince }: Webhook): Html {
  if (state === 'disabled') return badge('idle', 'Disabled');
  return failingSince === undefined ? badge('good', 'Active') : badge('bad', 'Failing');
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
${utc(failingSince)}. We go on trying; after five days, we disable the endpoint. Send a test to see
what it answers.</p>`;
}

function targetFields(url: string, types: string[] | undefined, eventTypes: string[]): Html {
  const isAll = types === undefined;
  const mark = (isSet: boolean) => (isSet ? html` checked` : '');
  const boxes = eventTypes.map(
    (type) =>
      html`<label><input type="checkbox" name="type" value="${type}"${mark(
        types?.includes(type) === true,
      )}> <code>${type}</code></label>`,
  );
  return html`<label for="url">URL</label>
<input id="url" name="url" type="url" value="${url}" maxlength="2048" placeholder="https://example.com/webhooks"
 autocomplete="off" spellcheck="false" required>
<fieldset><legend>Events</legend>
<label><input type="radio" name="events" value="all"${mark(isAll)}> All types, those to come too</label>
<label><input type="radio" name="events" value="some"${mark(!isAll)}> Only these</label>
<div class="choices">${boxes}</div>
</fieldset>`;
}

/** With an endpoint, its events have a button. */
function deliveryList(deliveries: WebhookDelivery[], endpoint: Webhook | undefined): Html {
  if (deliveries.length === 0)
    return empty(
      'No messages yet',
      'Send a test, or wait for the first event. The last 100 delivered and the last 100 given up are listed here.',
    );
  const rows = deliveries.map((one) => {
    const again =
      endpoint?.state === 'active' && one.isEvent
        ? action(PATH, ['resend', 'Send again'], { webhook: endpoint.webhookId, event: one.id })
        : '';
    return html`<li><div class="line">${outcomeOf(one)}<strong>${one.type}</strong>${utc(one.at)}${again}</div>
<p class="soft"><code>${one.id}</code> ${answerOf(one)}</p></li>`;
  });
  return html`<ul class="rows" aria-labelledby="messages">${rows}</ul>`;
}

function outcomeOf({ outcome }: WebhookDelivery): Html {
  return outcome === 'delivered' ? badge('good', 'Delivered') : badge('bad', 'Failed');
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
