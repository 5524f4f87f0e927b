// The console's section for webhooks: a partner's endpoints and their deliveries.
import type {
  WebhookAction,
  WebhookInput,
  WebhookRefusal,
} from '@partner-loyalty/runtime/manage/webhooks.ts';
import { field, timeIn } from './forms.ts';
import type { Manage } from './manage.ts';
import {
  ConsoleError,
  type ConsoleVisit,
  NotFoundError,
  type Notice,
  type Section,
} from './section.ts';
import { endpointPage, listPage, messagePage, secretPage, testText } from './webhookpages.ts';

const REFUSALS: Readonly<Record<Exclude<WebhookRefusal['refused'], 'url'>, string>> = {
  unknown: 'There is no such endpoint. Choose one from the list.',
  tooMany: 'You have reached the limit for endpoints. Remove one first.',
  disabled: 'The endpoint is disabled. Enable it, then send the events again.',
  noKey:
    'This service cannot store webhook secrets yet. Ask its operator to set KEY_ENCRYPTION_KEY.',
  testing:
    'A test is still on its way, or ten were sent in this minute. Wait a while, then look at the latest messages.',
  off: 'Tests cannot be sent from here. Ask the operator of this service to send one.',
  dropped: 'The event is no longer kept, so it cannot be sent again.',
  unlisted: 'This message is no longer listed. Choose one from the list.',
  replaying:
    'Events are already being sent again. Wait until that is done. To stop it, disable the endpoint and enable it again.',
};

export function createWebhooksSection({ webhooks: manage }: Pick<Manage, 'webhooks'>): Section {
  const ask = async <Name extends WebhookAction>(
    visit: ConsoleVisit,
    name: Name,
    input: WebhookInput<Name>,
  ) => done(await manage(visit, name, input));

  /** The endpoint of the page, for the audit log too. */
  function idIn({ query, changed }: ConsoleVisit) {
    const webhookId = query.get('webhook') ?? '';
    changed(webhookId);
    return { webhookId };
  }

  /** Changes the endpoint of the page, and says so. */
  async function change<Name extends 'edit' | 'disable' | 'enable' | 'replay'>(
    visit: ConsoleVisit,
    name: Name,
    input: Omit<WebhookInput<Name>, 'webhookId'>,
    text: string,
  ): Promise<Notice> {
    // Cast: an input has the ID of its endpoint beside the rest.
    await ask(visit, name, { ...input, ...idIn(visit) } as WebhookInput<Name>);
    return { text, isProblem: false };
  }

  return {
    name: 'webhooks',
    title: 'Webhooks',
    about: 'Your endpoints for events, and what was delivered to them.',
    async show(visit) {
      const webhookId = visit.query.get('webhook');
      const eventId = visit.query.get('message');
      if (webhookId === null) return listPage(await ask(visit, 'list', {}), visit);
      return eventId === null
        ? endpointPage(await ask(visit, 'show', { webhookId }), visit)
        : messagePage(await ask(visit, 'message', { webhookId, eventId }), visit);
    },
    actions: {
      async create(visit, form) {
        const made = await ask(visit, 'create', targetIn(form));
        visit.changed(made.webhook.webhookId);
        return secretPage(made, 'The endpoint is ready.');
      },
      rotate: async (visit) =>
        secretPage(await ask(visit, 'rotate', idIn(visit)), 'The endpoint has a new secret.'),
      edit(visit, form) {
        const { url, types = null } = targetIn(form);
        return change(visit, 'edit', { url, types }, 'The endpoint was changed.');
      },
      async test(visit) {
        const { sent } = await ask(visit, 'test', idIn(visit));
        return { text: testText(sent), isProblem: sent?.outcome === 'failed' };
      },
      disable: (visit) => change(visit, 'disable', {}, DISABLED),
      enable: (visit) => change(visit, 'enable', {}, ENABLED),
      replay: (visit, form) =>
        change(visit, 'replay', { since: timeIn(field(form, 'since')) }, REPLAYED),
      resend: (visit, form) => change(visit, 'replay', { eventId: field(form, 'event') }, RESENT),
      async remove(visit) {
        await ask(visit, 'remove', idIn(visit));
        return undefined;
      },
    },
  };
}

const DISABLED = 'The endpoint is disabled. It receives nothing until you enable it.';
const ENABLED =
  'The endpoint is enabled. It receives events from now on. To receive those it missed, use “Send events again” below.';
const REPLAYED =
  'Events since then are being sent again, at most 600 a minute. Below you see how far it is.';
const RESENT = 'The message is being sent. Reload this page in a few seconds to see the outcome.';

function done<Answer extends object>(answer: Answer): Exclude<Answer, WebhookRefusal> {
  if (!('refused' in answer)) return answer as Exclude<Answer, WebhookRefusal>;
  const { refused, fault } = answer as unknown as WebhookRefusal; // Cast: no other answer has it.
  if (refused === 'url') throw new ConsoleError(`The URL ${fault}.`);
  throw new (/^un/.test(refused) ? NotFoundError : ConsoleError)(REFUSALS[refused]);
}

function targetIn(form: URLSearchParams): WebhookInput<'create'> {
  const url = field(form, 'url');
  if (form.get('events') !== 'some') return { url };
  const types = form.getAll('type');
  if (types.length === 0)
    throw new ConsoleError('Choose at least one type of event, or all types.');
  return { url, types };
}
