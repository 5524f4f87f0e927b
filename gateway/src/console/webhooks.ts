// The console's section for webhooks: a partner's endpoints and their deliveries.
import type {
  WebhookAction,
  WebhookInput,
  WebhookRefusal,
} from '@partner-loyalty/runtime/manage/webhooks.ts';
import type { Html } from '../pages/html.ts';
import type { Manage } from './manage.ts';
import { field } from './parts.ts';
import { ConsoleError, type ConsoleVisit, NotFoundError, type Section } from './section.ts';
import { endpointPage, listPage, outcomePage, secretPage, testText } from './webhookpages.ts';

const REFUSALS: Readonly<Record<Exclude<WebhookRefusal['refused'], 'url'>, string>> = {
  unknown: 'There is no such endpoint any more. Choose one from the list.',
  tooMany: 'You have as many endpoints as a partner may have. Remove one first.',
  disabled: 'The endpoint is disabled. Enable it, then send the events again.',
  noKey:
    'This service cannot keep secrets of webhooks yet. Ask its operator to set KEY_ENCRYPTION_KEY.',
  testing: 'A test is still on its way. Wait a few seconds, then look at the latest messages.',
  off: 'This service sends no tests from here. Ask its operator to send one.',
  dropped: 'The event is not kept any more, so it cannot be sent again.',
};

export function createWebhooksSection({ webhooks: manage }: Pick<Manage, 'webhooks'>): Section {
  async function show(visit: ConsoleVisit): Promise<Html> {
    const isAdmin = visit.staff.role === 'admin';
    const webhookId = visit.query.get('webhook');
    return webhookId === null
      ? listPage(done(await manage(visit, 'list', {})), isAdmin)
      : endpointPage(done(await manage(visit, 'show', { webhookId })), isAdmin);
  }

  return {
    name: 'webhooks',
    title: 'Webhooks',
    about: 'Endpoints of yours that get events, and what was delivered.',
    show,
    async submit(visit, form) {
      const webhookId = visit.query.get('webhook') ?? '';
      const of = { webhookId };
      visit.changed(webhookId);
      async function change<Action extends WebhookAction>(
        action: Action,
        input: WebhookInput<Action>,
        text: string,
      ): Promise<Html> {
        done(await manage(visit, action, input));
        return outcomePage(webhookId, text);
      }
      switch (form.get('action')) {
        case 'create': {
          const made = done(await manage(visit, 'create', targetIn(form)));
          visit.changed(made.webhook.webhookId);
          return secretPage(made, true);
        }
        case 'rotate':
          return secretPage(done(await manage(visit, 'rotate', of)), false);
        case 'edit': {
          const { url, types = null } = targetIn(form);
          return change('edit', { webhookId, url, types }, 'The endpoint is changed.');
        }
        case 'test': {
          const { sent } = done(await manage(visit, 'test', of));
          return outcomePage(webhookId, testText(sent), sent?.outcome === 'failed');
        }
        case 'disable':
          return change(
            'disable',
            of,
            'The endpoint is disabled. It gets nothing until you enable it.',
          );
        case 'enable':
          return change('enable', of, 'The endpoint is enabled. It gets what happens from now on.');
        case 'replay': {
          const since = sinceIn(form);
          return change(
            'replay',
            { webhookId, since },
            'What has happened since then is being sent again.',
          );
        }
        case 'resend': {
          const eventId = field(form, 'event');
          return change('replay', { webhookId, eventId }, 'The event is being sent again.');
        }
        case 'remove':
          done(await manage(visit, 'remove', of));
          return undefined;
        default:
          throw new ConsoleError('Use one of the buttons on this page.');
      }
    },
  };
}

function done<Answer extends object>(answer: Answer): Exclude<Answer, WebhookRefusal> {
  if (!('refused' in answer)) return answer as Exclude<Answer, WebhookRefusal>;
  const { refused, fault } = answer as unknown as WebhookRefusal; // Cast: no other answer has it.
  if (refused === 'url') throw new ConsoleError(`The URL ${fault}.`);
  throw new (refused === 'unknown' ? NotFoundError : ConsoleError)(REFUSALS[refused]);
}

function targetIn(form: URLSearchParams): WebhookInput<'create'> {
  const url = field(form, 'url');
  if (form.get('events') !== 'some') return { url };
  const types = form.getAll('type');
  if (types.length === 0)
    throw new ConsoleError('Choose at least one type of event, or all types.');
  return { url, types };
}

/** Browsers send a local time without its zone, which is said to be UTC. */
function sinceIn(form: URLSearchParams): number {
  const given = field(form, 'since');
  const since = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z?$/.test(given)
    ? Date.parse(given.replace(/Z?$/, 'Z'))
    : Number.NaN;
  if (!Number.isNaN(since)) return since;
  throw new ConsoleError('Give a date and a time in UTC, such as 2026-11-25T09:30.');
}
