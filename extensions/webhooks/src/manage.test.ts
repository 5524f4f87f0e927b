// What may be asked for about webhooks: by the command, and by the operation.
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { WebhookAction, WebhookRequest } from '@partner-loyalty/runtime/manage/webhooks.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createExecutor } from '@partner-loyalty/runtime/subgraph/executor.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import { createStandings } from '@partner-loyalty/standings';
import { createSequencer } from '@partner-loyalty/standings/events/sequencer.ts';
import type { StandingsStore } from '@partner-loyalty/standings/store/store.ts';
import { messageIdOf } from '@partner-loyalty/standings/store/webhooks.ts';
import { activity, newPlace, type Place } from '../../../subgraphs/standings/test/engine.ts';
import { type Receiver, startReceiver } from '../../../test/support/servers/receiver.ts';
import { until } from '../../../test/support/until.ts';
import { createWebhookManager } from './manage.ts';
import { eventsFrom } from './place.ts';
import { createSender } from './send.ts';
import { createWebhookSecrets } from './target.ts';

const URL = 'https://hooks.example/';
const SETTINGS = {
  environment: 'sandbox',
  keyEncryptionKey: undefined,
  webhookPrivate: 'on',
  host: '127.0.0.1',
} as const;
const LOCAL = { byStaff: { isLocal: true } };
const REMOTE = { byStaff: { isLocal: false } };

type WebhookManager = ReturnType<typeof createWebhookManager>;

describe('managing webhooks', () => {
  let place: Place;
  let store: StandingsStore;
  let closing: (() => Promise<void>)[];
  let manager: WebhookManager;

  const open = (change: object = {}, testMs = 30_000): WebhookManager => {
    const settings = { ...SETTINGS, ...change };
    const sender = createSender(settings, createWebhookSecrets(settings));
    const opened = createWebhookManager(store, settings, { send: sender.send, testMs });
    closing.unshift(async () => {
      await opened.close();
      await sender.close();
    });
    return opened;
  };
  beforeEach(async () => {
    place = newPlace();
    store = await place.open();
    closing = [];
    manager = open();
  });
  afterEach(async () => {
    for (const close of closing) await close();
    await place.release();
  });

  const manage = <Action extends WebhookAction>(request: WebhookRequest<Action>, by = {}) =>
    manager.manage(request, by);
  const create = async (url = URL, by = {}, types?: string[]) => {
    const made = await manage({ action: 'create', partnerId: 'inn', url, types }, by);
    if ('refused' in made) throw new Error(`refused: ${made.refused}`);
    return made.webhook.webhookId;
  };
  const show = async (webhookId: string) => {
    const shown = await manage({ action: 'show', partnerId: 'inn', webhookId });
    if ('refused' in shown) throw new Error(`refused: ${shown.refused}`);
    return shown;
  };
  const stored = async (webhookId: string) => store.webhooks.endpoints.get(webhookId);
  const happen = async (count: number) => {
    for (let i = 0; i < count; i += 1)
      await store.record([activity(`${Math.random()}`, 1, { memberId: `m-${i}` })]);
    const members = { pendingEvents: async () => [], acknowledgeEvents: async () => {} };
    const sequencer = createSequencer(store.feed, { members, retentionDays: 30 });
    while ((await sequencer.pass()) === true);
    await sequencer.release();
  };

  test("another partner's endpoint is unknown, whatever is asked of it, and stays as it is", async () => {
    const webhookId = await create();
    const before = await stored(webhookId);
    const of = { partnerId: 'spa', webhookId };
    const asked = await Promise.all([
      manage({ action: 'show', ...of }),
      manage({ action: 'edit', ...of, url: 'https://spa.example/' }),
      manage({ action: 'rotate', ...of }),
      manage({ action: 'test', ...of }),
      manage({ action: 'replay', ...of, since: 0 }),
      manage({ action: 'replay', ...of, eventId: 'e' }),
      manage({ action: 'disable', ...of }),
      manage({ action: 'enable', ...of }),
      manage({ action: 'remove', ...of }),
    ]);
    expect(asked).toEqual(asked.map(() => ({ refused: 'unknown' })));
    expect(await stored(webhookId)).toEqual(before);
    expect(await manage({ action: 'list', partnerId: 'spa' })).toMatchObject({ webhooks: [] });
  });

  test('an ID that no endpoint has is unknown, however it is written', async () => {
    for (const webhookId of ['', 'wh_', 'wh_1', 'x'.repeat(10_000), 'wh_\u0000', '__proto__'])
      expect(await manage({ action: 'show', partnerId: 'inn', webhookId })).toEqual({
        refused: 'unknown',
      });
  });

  test('a secret is in the answers that made it, and in no other', async () => {
    const made = await manage({ action: 'create', partnerId: 'inn', url: URL });
    if ('refused' in made) throw new Error(made.refused);
    const of = { partnerId: 'inn', webhookId: made.webhook.webhookId };
    const rotated = await manage({ action: 'rotate', ...of });
    expect([made, rotated]).toMatchObject([
      { secret: expect.stringMatching(/^whsec_/) },
      { secret: expect.stringMatching(/^whsec_/) },
    ]);
    const others = await Promise.all([
      manage({ action: 'list', partnerId: 'inn' }),
      manage({ action: 'show', ...of }),
      manage({ action: 'edit', ...of, types: ['YEAR_ENDED'] }),
      manage({ action: 'disable', ...of }),
      manage({ action: 'remove', ...of }),
    ]);
    expect(JSON.stringify([others, made.webhook])).not.toMatch(/whsec_|sealed|lease/);
  });

  test('editing changes what is given, and keeps the rest', async () => {
    const webhookId = await create(URL, {}, ['TIER_CHANGED']);
    const of = { partnerId: 'inn', webhookId };
    const edit = (input: object) => manage({ action: 'edit', ...of, ...input });
    expect(await edit({ url: `${URL}b` })).toMatchObject({
      webhook: { url: `${URL}b`, types: ['TIER_CHANGED'] },
    });
    expect(await edit({ types: ['YEAR_ENDED', 'NO_TYPE'] })).toMatchObject({
      webhook: { url: `${URL}b`, types: ['YEAR_ENDED'] },
    });
    expect(await edit({ types: null })).not.toHaveProperty('webhook.types', expect.anything());
    expect(await edit({ url: 'ftp://hooks.example/' })).toMatchObject({ refused: 'url' });
    await manage({ action: 'edit', ...of }, REMOTE);
    expect(await stored(webhookId)).not.toHaveProperty('byStaff');
    await manage({ action: 'edit', ...of, url: `${URL}b` }, REMOTE);
    await edit({ types: null });
    expect((await stored(webhookId))?.byStaff).toEqual(REMOTE.byStaff);
    await edit({ url: `${URL}b` });
    expect(await stored(webhookId)).not.toHaveProperty('byStaff');
    expect(await stored(webhookId)).toMatchObject({ url: `${URL}b`, state: 'active', revision: 6 });
  });

  describe('server-side request forgery', () => {
    test('staff of a service that others reach cannot give a private URL', async () => {
      const url = 'https://10.0.0.1/';
      const webhookId = await create();
      const ask = (by: object) => [
        manage({ action: 'create', partnerId: 'inn', url }, by),
        manage({ action: 'edit', partnerId: 'inn', webhookId, url }, by),
      ];
      for (const answer of await Promise.all(ask(REMOTE)))
        expect(answer).toEqual({ refused: 'url', fault: expect.any(String) });
      manager = open({ host: '0.0.0.0' });
      for (const answer of await Promise.all(ask(LOCAL)))
        expect(answer).toEqual({ refused: 'url', fault: expect.any(String) });
      expect(await stored(webhookId)).toMatchObject({ url: URL });
    });

    test('staff on this machine, and operators, can give a private URL', async () => {
      await create('http://127.0.0.1/', LOCAL);
      await create('http://127.0.0.1/');
    });

    test('a name of staff that leads to a private address is not called, nor one edited by staff', async () => {
      const receiver = await startReceiver();
      closing.push(receiver.close);
      const url = receiver.url.replace('127.0.0.1', 'localhost');
      const mine = await create(url, LOCAL);
      const theirs = await create(url);
      manager = open({ host: '0.0.0.0' });
      const sent = async (webhookId: string) => {
        const answer = await manage({ action: 'test', partnerId: 'inn', webhookId });
        return 'sent' in answer && [answer.sent?.outcome, answer.sent?.reason];
      };
      expect(await sent(mine)).toEqual(['failed', 'ADDRESS']);
      expect(await sent(theirs)).toEqual(['delivered', undefined]);
      const secure = { url: url.replace('http:', 'https:') };
      await manage({ action: 'edit', partnerId: 'inn', webhookId: theirs, ...secure }, REMOTE);
      expect(await sent(theirs)).toEqual(['failed', 'ADDRESS']);
      expect(receiver.received).toHaveLength(1);
    });
  });

  describe('a test', () => {
    let receiver: Receiver;
    let webhookId: string;
    beforeEach(async () => {
      receiver = await startReceiver();
      closing.push(receiver.close);
      webhookId = await create(receiver.url);
    });
    const test_ = () => manage({ action: 'test', partnerId: 'inn', webhookId });

    test('is answered with its outcome, which is among the deliveries', async () => {
      const sent = { type: 'TEST', outcome: 'delivered', status: 204, isEvent: false };
      expect(await test_()).toMatchObject({ sent });
      receiver.respond = () => 500;
      const failed = { ...sent, outcome: 'failed', status: 500 };
      expect(await test_()).toMatchObject({ sent: failed });
      expect((await show(webhookId)).deliveries).toMatchObject([failed, sent]);
      expect((await show(webhookId)).webhook.last).toMatchObject(failed);
    });

    test('that takes long goes on without its answer, and no second one begins', async () => {
      manager = open({}, 1);
      let answer = (_: number) => {};
      receiver.respond = () => new Promise((resolve) => (answer = resolve));
      expect(await test_()).toEqual({ sent: undefined });
      expect(await test_()).toEqual({ refused: 'testing' });
      await until(() => receiver.received.length === 1);
      answer(200);
      await until(async () => (await show(webhookId)).deliveries.length === 1);
    });

    test('leaves nothing of an endpoint that is removed meanwhile', async () => {
      let answer = (_: number) => {};
      receiver.respond = () => new Promise((resolve) => (answer = resolve));
      const testing = test_();
      await until(() => receiver.received.length === 1);
      await manage({ action: 'remove', partnerId: 'inn', webhookId });
      answer(200);
      await testing;
      expect(await store.webhooks.logs.get(webhookId)).toBeUndefined();
    });

    test('is sent ten times a minute to all endpoints of a partner', async () => {
      const other = await create(receiver.url);
      for (let sent = 0; sent < 5; sent += 1) {
        await test_();
        await manage({ action: 'test', partnerId: 'inn', webhookId: other });
      }
      expect(await test_()).toEqual({ refused: 'testing' });
      expect(receiver.received).toHaveLength(10);
    });

    test('is refused by a process that sends nothing', async () => {
      manager = createWebhookManager(store, SETTINGS, { send: undefined, testMs: 1 });
      expect(await test_()).toEqual({ refused: 'off' });
    });
  });

  test('one event is sent again by its ID, and no other place of the feed can be named', async () => {
    await happen(3);
    const webhookId = await create();
    const [second = ''] = (await eventsFrom(store.feed, 'inn', 2, 1)).map(({ event }) => event.id);
    const outcome = { type: 'POINTS_CHANGED', at: Date.now(), attempts: 1, durationMs: 1 };
    await store.webhooks.logs.put({
      webhookId,
      delivered: [
        { ...outcome, id: 'second', position: 1 },
        { ...outcome, id: second, position: 2 },
        { ...outcome, id: 'formerly' },
      ],
      failed: [],
    });
    const replay = (eventId: string) =>
      manage({ action: 'replay', partnerId: 'inn', webhookId, eventId });
    const rows = async () => store.webhooks.waiting.select(() => true);
    expect(await replay('formerly')).toEqual({ refused: 'dropped' });
    expect(await replay('3')).toEqual({ refused: 'dropped' });
    // The feed was restored from a backup, and has another event there.
    expect(await replay('second')).toEqual({ refused: 'dropped' });
    expect(await rows()).toEqual([]);
    expect(await replay(second)).toMatchObject({ webhook: { webhookId } });
    const messageId = messageIdOf(webhookId, 2);
    const row = { messageId, position: 2, memberId: 'm-1', attempts: 0, isReplayed: true };
    expect(await rows()).toMatchObject([row]);
    expect(await stored(webhookId)).toMatchObject({ position: 3, revision: 2 });
    await store.webhooks.waiting.remove(messageId);
    await store.feed.dropBefore(Number.MAX_SAFE_INTEGER);
    expect(await replay(second)).toEqual({ refused: 'dropped' });
    await manage({ action: 'disable', partnerId: 'inn', webhookId });
    expect(await replay(second)).toEqual({ refused: 'disabled' });
  });

  test('a message has its attempts and what is sent, unless it is erased, dropped, or unlisted', async () => {
    await happen(2);
    const webhookId = await create();
    const [found] = await eventsFrom(store.feed, 'inn', 2, 1);
    const event = found?.event;
    const eventId = event?.id ?? '';
    const ask = (of: object = {}) =>
      manage({ action: 'message', partnerId: 'inn', webhookId, eventId, ...of });
    expect(await ask()).toEqual({ refused: 'unlisted' });
    const history = [{ at: Date.now(), durationMs: 3, status: 500, answer: 'no' }];
    const messageId = messageIdOf(webhookId, 2);
    const row = { messageId, position: 2, eventId, type: 'POINTS_CHANGED', occurredAt: 1 };
    const nextAt = Date.now() + 5_000;
    await store.webhooks.waiting.put({ ...row, attempts: 1, nextAt, history });
    expect((await show(webhookId)).deliveries).toEqual([
      {
        ...{ id: eventId, type: 'POINTS_CHANGED', outcome: 'waiting', isEvent: true },
        ...{ at: history[0]?.at, attempts: 1, durationMs: 3, status: 500, nextAttemptAt: nextAt },
      },
    ]);
    expect(await ask()).toMatchObject({
      message: { id: eventId, outcome: 'waiting' },
      history,
      payload: { type: 'POINTS_CHANGED', data: { id: eventId, memberId: 'm-1' } },
    });
    expect(await ask({ partnerId: 'spa' })).toEqual({ refused: 'unknown' });
    await manage({ action: 'replay', partnerId: 'inn', webhookId, eventId });
    expect(await store.webhooks.waiting.get(messageId)).toMatchObject({ isAsked: true, history });
    expect((await stored(webhookId))?.nextAttemptAt).toBeLessThanOrEqual(Date.now());
    const outcome = { id: eventId, type: 'POINTS_CHANGED', position: 2, ...history[0] };
    await store.webhooks.waiting.remove(messageId);
    await store.webhooks.logs.put({
      webhookId,
      delivered: [{ ...outcome, at: Date.now(), attempts: 1, durationMs: 3 }],
      failed: [{ ...outcome, at: 1, attempts: 10, durationMs: 3 }],
    });
    expect(await ask()).toMatchObject({ message: { outcome: 'delivered' }, history: [{}] });
    expect((await show(webhookId)).deliveries).toMatchObject([{ outcome: 'delivered' }]);
    await store.feed.dropBefore(Number.MAX_SAFE_INTEGER);
    expect(await ask()).not.toHaveProperty('payload');
  });

  test('what is shown of thousands that wait is read from the oldest 1,000, however many wait', async () => {
    const webhookId = await create();
    const { waiting } = store.webhooks;
    const positions = Array.from({ length: 1_500 }, (_, index) => 9_500 + index);
    const ids = positions.map((position) => messageIdOf(webhookId, position));
    const row = { type: 'POINTS_CHANGED', occurredAt: 1, attempts: 1 };
    await waiting.updateAll(ids, (_, messageId) => {
      const position = Number(messageId.split('/')[1]);
      // One of another member was refused later.
      const isTried = position === 9_500 || position === 10_400;
      const tried = isTried && {
        nextAt: Date.now() + position,
        history: [{ at: 1, durationMs: 1 }],
      };
      return { messageId, position, eventId: `e-${position}`, ...row, ...tried };
    });
    let read = 0;
    const counting: typeof waiting.startingWith = async (...query) => {
      const found = await waiting.startingWith(...query);
      read += found.length;
      return found;
    };
    const webhooks = { ...store.webhooks, waiting: { ...waiting, startingWith: counting } };
    manager = createWebhookManager({ ...store, webhooks }, SETTINGS, {
      send: undefined,
      testMs: 1,
    });
    const { deliveries } = await show(webhookId);
    expect(deliveries).toHaveLength(100);
    expect(deliveries.slice(0, 2).map(({ id }) => id)).toEqual(['e-9500', 'e-10400']);
    const ask = (eventId: string) =>
      manage({ action: 'message', partnerId: 'inn', webhookId, eventId });
    expect(await ask('e-10400')).toMatchObject({ message: { id: 'e-10400' } });
    expect(await ask('e-10999')).toEqual({ refused: 'unlisted' });
    expect(read).toBe(3_000);
  });

  test('one replay of an endpoint runs at a time, and its answer and the list say how far it is', async () => {
    await happen(3);
    const webhookId = await create();
    const of = { partnerId: 'inn', webhookId };
    const ask = () => manage({ action: 'replay', ...of, since: 0 });
    const answers = await Promise.all(Array.from({ length: 12 }, ask));
    const replay = { done: 0, total: 3, startedAt: expect.any(Number) };
    const refusals = answers.filter((one) => 'refused' in one);
    expect(refusals).toEqual(Array(11).fill({ refused: 'replaying' }));
    expect(answers.filter((one) => 'webhook' in one)).toMatchObject([{ webhook: { replay } }]);
    const row = await stored(webhookId);
    if (row !== undefined) await store.webhooks.endpoints.put({ ...row, position: 2 });
    expect(await manage({ action: 'list', partnerId: 'inn' })).toMatchObject({
      webhooks: [{ replay: { ...replay, done: 2 }, waiting: 1 }],
    });
    expect(await ask()).toEqual({ refused: 'replaying' });
    await manage({ action: 'disable', ...of });
    expect((await show(webhookId)).webhook.replay).toBeUndefined();
    await manage({ action: 'enable', ...of });
    expect(await ask()).toMatchObject({ webhook: { replay } });
  });

  test('what waits is counted, in rows and in the feed', async () => {
    const webhookId = await create();
    await happen(2);
    const row = await store.webhooks.endpoints.get(webhookId);
    if (row !== undefined) await store.webhooks.endpoints.put({ ...row, waiting: 1 });
    expect((await show(webhookId)).webhook.waiting).toBe(3);
    await happen(100);
    expect((await show(webhookId)).webhook.waiting).toBe(103);
    await manage({ action: 'disable', partnerId: 'inn', webhookId }, LOCAL);
    expect((await show(webhookId)).webhook).toMatchObject({
      waiting: 0,
      state: 'disabled',
      disabledBecause: 'CONSOLE',
    });
  });

  describe('the operation', () => {
    const QUERY = `mutation ($request: String!, $isLocal: Boolean!) {
      answer: manageWebhooks(request: $request, isLocal: $isLocal) }`;
    const ask = async (
      caller: Caller,
      request: object,
      subgraph = createStandings(store, { webhooks: managed() }),
    ) => {
      const executor = createExecutor(subgraph, createLog('silent'), createCaches());
      const variables = { request: JSON.stringify(request), isLocal: false };
      const { data, errors } = await executor({ query: QUERY, variables, caller, requestId: 'r' });
      return errors?.[0]?.extensions.code ?? JSON.parse(String(data?.answer));
    };
    const none = async () => [];
    const managed = () => ({ ...manager, disabledSince: none, failingBefore: none, wake() {} });
    const list = { action: 'list', partnerId: 'inn' };

    test('is for the service alone', async () => {
      expect(await ask({ kind: 'service' }, list)).toMatchObject({ webhooks: [] });
      const code = 'INTERNAL_SERVER_ERROR';
      expect(await ask({ kind: 'partner', partnerId: 'inn' }, list)).toBe(code);
      expect(await ask({ kind: 'member', memberId: 'ada' }, list)).toBe(code);
      expect(await ask({ kind: 'service' }, list, createStandings(store))).toBe(code);
    });

    test("counts as staff's, whatever the request says", async () => {
      const url = 'https://10.0.0.1/';
      const forged = { action: 'create', partnerId: 'inn', url, byStaff: undefined, isLocal: true };
      expect(await ask({ kind: 'service' }, forged)).toMatchObject({ refused: 'url' });
      expect(
        await ask({ kind: 'service' }, { action: 'create', partnerId: 'inn', url: URL }),
      ).toMatchObject({ webhook: { partnerId: 'inn' } });
      const [made] = await store.webhooks.endpoints.select(() => true);
      expect(made?.byStaff).toEqual({ isLocal: false });
    });
  });
});
