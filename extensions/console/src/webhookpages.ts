// The pages of the section for webhooks as HTML.
import type {
  Webhook,
  WebhookDelivery,
  WebhookDone,
  WebhookSummary,
} from '@partner-loyalty/runtime/manage/webhooks.ts';
import { noticeBox } from '@partner-loyalty/runtime/pages/cards.ts';
import { codeBlock, type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { timeText } from '@partner-loyalty/runtime/time.ts';
import { actionForm, confirmed, hidden, type Typed, typedInto } from './forms.ts';
import { empty, facts, rowList, stateText } from './parts.ts';
import { type ConsoleVisit, isAdmin } from './section.ts';

const GUIDE = html`<a href="/docs/guides/events-and-webhooks">How webhooks work</a>`;

export function listPage({ webhooks, eventTypes }: WebhookDone<'list'>, visit: ConsoleVisit): Html {
  const items = webhooks.map((webhook) => {
    const { webhookId, url, types, waiting, last } = webhook;
    const outcome = last && html`${stateText(last.outcome)} ${timeText(last.at)}`;
    const first = webhook.nextAttemptAt === undefined ? 'None yet' : stateText('retrying');
    return html`<li class="row"><h2><a href="${pathOf(webhookId)}">${url}</a> ${stateText(webhook.state)}</h2>
${facts([
  ['Events', typesText(types)],
  ['Waiting', waitingText(waiting)],
  ...progressOf(webhook),
  ['Last message', outcome ?? first],
])}</li>`;
  });
  const none = isAdmin(visit)
    ? 'Add the URL where your system receives events. You get a secret to verify them with.'
    : 'An admin of your company can add one here.';
  const typed = typedInto(visit, 'create');
  const fields = fieldsOf({ url: '', types: undefined }, eventTypes, typed);
  const form = actionForm('webhooks', 'create', 'Add endpoint', fields);
  const isOpen = webhooks.length === 0 || typed.isRejected;
  return html`<p class="soft">We send signed events about your members to your endpoints, and
retry failed deliveries. ${GUIDE}</p>
${rowList(items, empty('No endpoints yet', none))}
${isAdmin(visit) ? confirmed('Add an endpoint', form, isOpen, 'new') : ''}`;
}

export function endpointPage(shown: WebhookDone<'show'>, visit: ConsoleVisit): Html {
  const { webhook, deliveries, eventTypes } = shown;
  const { webhookId, url, types, waiting, createdAt } = webhook;
  return html`<p><a href="/console/webhooks">All endpoints</a></p>
<h2>${url} ${stateText(webhook.state)}</h2>
${warningOf(webhook)}
${facts([
  ['ID', html`<code>${webhookId}</code>`],
  ['Events', typesText(types)],
  ['Waiting', waitingText(waiting)],
  ...progressOf(webhook),
  ['Created', timeText(createdAt)],
])}
${isAdmin(visit) ? changes(webhook, eventTypes, visit) : ''}
<h2 id="messages" class="next">Latest messages</h2>
${deliveryList(deliveries, webhookId)}`;
}

export function messagePage(shown: WebhookDone<'message'>, visit: ConsoleVisit): Html {
  const { webhook, message, history, payload } = shown;
  const { id, type, outcome, isEvent } = message;
  const isWaiting = outcome === 'waiting';
  const sent = [...history].reverse().map(
    (one) => html`<li class="row"><h3>${timeText(one.at)}</h3>
<p class="soft">${attemptText(one)}${one.isExtra ? ' (extra: it does not count among the ten)' : ''}</p>
${one.answer === undefined ? '' : codeBlock('Response', one.answer)}</li>`,
  );
  const canSend = isAdmin(visit) && isEvent && webhook.state !== 'disabled';
  const button = isWaiting ? 'Send now' : 'Send again';
  const own = `webhooks?webhook=${webhook.webhookId}&message=${encodeURIComponent(id)}`;
  const gone = isEvent ? 'Its event is no longer kept.' : 'A test has no data.';
  return html`<p><a href="${pathOf(webhook.webhookId)}">Back to the endpoint</a></p>
<h2>${type} ${stateText(stateOf(message))}</h2>
${facts([
  ['ID', html`<code>${id}</code>`],
  ['Endpoint', webhook.url],
  ...(isWaiting ? [['Next attempt', nextText(message)] as const] : []),
])}
${canSend && payload ? actionForm(own, 'resend', button, hidden('event', id)) : ''}
<h2 class="next">Attempts</h2>
${rowList(sent, html`<p>None yet.</p>`)}
<h2 class="next">Payload</h2>
${payload ? codeBlock('Payload', JSON.stringify(payload, null, 2)) : html`<p>${gone}</p>`}`;
}

/** Forms of an endpoint lead to its own page, which shows what is wrong. */
function endpointForm(
  { webhookId }: Webhook,
  ...[action, button, content, kind]: [name: string, text: string, content?: Html, kind?: string]
): Html {
  return actionForm(`webhooks?webhook=${webhookId}`, action, button, content, kind);
}

function changes(webhook: WebhookSummary, eventTypes: string[], visit: ConsoleVisit): Html {
  const [edited, replayed] = [typedInto(visit, 'edit'), typedInto(visit, 'replay')];
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString().slice(0, 16);
  const replaying = html`<p>Your system receives events again that it already has, with the same
<code>webhook-id</code>, at most 600 a minute.</p>
${endpointForm(
  webhook,
  'replay',
  'Send again',
  html`<label for="since">Since, in UTC</label>
<input id="since" name="since" type="datetime-local" value="${replayed.value('since', hourAgo)}" required>`,
)}`;
  const rotating = html`<p>The new secret is shown once. For 24 hours, we also sign with the old one,
so that you have time to switch.</p>${endpointForm(webhook, 'rotate', 'Create a new secret')}`;
  const removing = html`<p>Events that are waiting for it are discarded, and its messages are no
longer listed. This cannot be undone.</p>${endpointForm(webhook, 'remove', 'Remove this endpoint', html``, 'danger')}`;
  const isActive = webhook.state !== 'disabled';
  const { waiting } = webhook;
  const lost = waiting === 0 ? '' : html` What is waiting (${waitingText(waiting)}) is not sent.`;
  const disabling = html`<p>The endpoint receives nothing until you enable it.${lost}
After that, you can send the events that it missed.</p>${endpointForm(webhook, 'disable', 'Disable this endpoint', html``, 'danger')}`;
  return html`<div class="actions">${endpointForm(webhook, 'test', 'Send a test', html``, 'plain')}
${isActive ? confirmed('Disable', disabling) : endpointForm(webhook, 'enable', 'Enable', html``, 'plain')}
${confirmed('Edit', endpointForm(webhook, 'edit', 'Save', fieldsOf(webhook, eventTypes, edited)), edited.isRejected)}
${isActive ? confirmed('Send events again', replaying, replayed.isRejected) : ''}
${confirmed('New secret', rotating)}${confirmed('Remove', removing)}</div>`;
}

/** The secret is only on this page. */
export function secretPage({ webhook, secret }: WebhookDone<'rotate'>, text: string): Html {
  return html`${noticeBox(text, false)}
<p>Save the secret of <strong>${webhook.url}</strong> now: it is not shown again. ${GUIDE}</p>
${codeBlock('Secret', secret)}
<p><a href="${pathOf(webhook.webhookId)}">I have saved it: go to the endpoint</a></p>`;
}

export function testText(sent: WebhookDelivery | undefined): string {
  if (sent === undefined)
    return 'The test is on its way. Its outcome appears under Latest messages within 15 seconds.';
  const not = sent.outcome === 'delivered' ? '' : 'not ';
  return `The test was ${not}delivered: ${answerOf(sent)}.`;
}

function pathOf(webhookId: string, messageId?: string): string {
  const message = messageId === undefined ? '' : `&message=${encodeURIComponent(messageId)}`;
  return `/console/webhooks?webhook=${encodeURIComponent(webhookId)}${message}`;
}

/** What waits after a failed attempt is in the state that its endpoint is in. */
function stateOf({ outcome, durationMs }: WebhookDelivery): string {
  return outcome === 'waiting' && durationMs !== undefined ? 'retrying' : outcome;
}

function typesText(types: string[] | undefined): string {
  return types === undefined ? 'All types' : types.join(', ');
}

function waitingText(waiting: number): string {
  if (waiting === 0) return 'Nothing';
  return waiting === 1 ? '1 event' : `${waiting} events`;
}

/** What is sent again: after a failure, or by a replay. */
function progressOf({ lastStatus, lastReason, nextAttemptAt, replay }: Webhook) {
  const facts: [string, string | Html][] = [];
  if (nextAttemptAt !== undefined)
    facts.push(
      ['Last failure', responseOf({ status: lastStatus, reason: lastReason })],
      ['Next attempt', timeText(nextAttemptAt)],
    );
  if (replay === undefined) return facts;
  const { done, total, startedAt } = replay;
  const text = html`${done} of ${total} events, since ${timeText(startedAt)}`;
  return [...facts, ['Sent again', text] as const];
}

const DISABLED = {
  COMMAND: 'The operator of this service disabled it.',
  CONSOLE: 'Your staff disabled it.',
  SUSPENDED: 'It was disabled when your company was suspended.',
  GONE: 'It responded with 410 (Gone), so we disabled it.',
  FAILING: 'No message got through for five days, so we disabled it.',
};

function warningOf({ state, disabledBecause, failingSince, attempts }: Webhook): Html {
  if (state === 'disabled') {
    const why = disabledBecause === undefined ? '' : DISABLED[disabledBecause];
    const then = 'Enable it to receive new events, then send the missed ones again.';
    return noticeBox(`${why} ${then}`, true);
  }
  if (state !== 'failing' || failingSince === undefined) return html``;
  return html`<p class="notice problem" role="alert">No message has got through since
${timeText(failingSince)}, in ${attempts} attempts. We keep trying, one message at a time, and
disable the endpoint after five days. Once a message gets through, we send what is waiting.
Send a test to see how the endpoint responds.</p>`;
}

function fieldsOf(
  { url, types }: Pick<Webhook, 'url' | 'types'>,
  eventTypes: string[],
  { value, checked }: Typed,
): Html {
  const isAll = types === undefined;
  const boxes = eventTypes.map(
    (
      type,
    ) => html`<label class="box"><input type="checkbox" name="type" value="${type}"${checked('type', type, types?.includes(type))}>
<span><code>${type}</code></span></label>`,
  );
  return html`<label for="url">URL</label>
<input id="url" name="url" type="url" value="${value('url', url)}" maxlength="2048" placeholder="https://example.com/webhooks"
 autocomplete="off" spellcheck="false" aria-describedby="url-hint" required>
<p class="soft" id="url-hint">It must use https and be reachable from the internet. A sandbox on your
own machine accepts http too, such as http://localhost:4030/webhooks.</p>
<fieldset class="events"><legend>Events</legend>
<label class="box"><input type="radio" name="events" value="all"${checked('events', 'all', isAll)}>
<span>All types, including future ones</span></label>
<label class="box"><input type="radio" name="events" value="some"${checked('events', 'some', !isAll)}>
<span>Only these</span></label>
<div class="types">${boxes}</div>
</fieldset>`;
}

function deliveryList(deliveries: WebhookDelivery[], webhookId: string): Html {
  if (deliveries.length === 0)
    return empty(
      'No messages yet',
      'Send a test, or wait for the first event. What waits, the last 100 delivered and the last 100 failed messages of 7 days are listed here.',
    );
  const rows = deliveries.map((one) => {
    const path = pathOf(webhookId, one.id);
    const tried = one.durationMs === undefined ? [] : [`${timeText(one.at)}, ${answerOf(one)}`];
    const next = one.outcome === 'waiting' ? [`next attempt ${nextText(one)}`] : [];
    return html`<li class="row"><h3><a href="${path}">${one.type}</a> ${stateText(stateOf(one))}</h3>
<p class="soft"><code>${one.id}</code><br>${[...tried, ...next].join('; ')}</p></li>`;
  });
  return html`<ul class="rows messages" aria-labelledby="messages">${rows}</ul>`;
}

const REASONS: Readonly<Record<string, string>> = {
  ADDRESS: 'webhooks cannot be sent to its address',
  DNS: 'its host name was not found',
  REFUSED: 'no connection',
  TLS: 'no valid certificate',
  TIMEOUT: 'no answer within 15 seconds',
  CONNECTION: 'the connection broke',
  SECRET: 'its secret cannot be read here',
};

function answerOf({ attempts, ...one }: WebhookDelivery): string {
  return `${attemptText(one)}${attempts > 1 ? `, attempt ${attempts}` : ''}`;
}

function attemptText({
  durationMs = 0,
  ...one
}: Pick<WebhookDelivery, 'durationMs' | 'status' | 'reason'>): string {
  return `${responseOf(one)}, ${durationMs} ms`;
}

function nextText({ nextAttemptAt }: WebhookDelivery): string {
  return nextAttemptAt === undefined
    ? 'in its turn, after earlier messages of its member'
    : timeText(nextAttemptAt);
}

function responseOf({ status, reason = '' }: Pick<WebhookDelivery, 'status' | 'reason'>): string {
  return status === undefined ? (REASONS[reason] ?? reason) : `status ${status}`;
}
