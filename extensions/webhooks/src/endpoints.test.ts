// The endpoints of partners.
import { createSequencer } from '@partner-loyalty/standings/events/sequencer.ts';
import type { PendingMemberEvent } from '@partner-loyalty/standings/members.ts';
import type { StandingsStore } from '@partner-loyalty/standings/store/store.ts';
import {
  addOutcomes,
  messageIdOf,
  type WaitingMessage,
} from '@partner-loyalty/standings/store/webhooks.ts';
import { newPlace, type Place } from '../../../subgraphs/standings/test/engine.ts';
import { endpointsIn } from './endpoints.ts';
import { saveEndpoint, takeEndpoint } from './holding.ts';
import { createWebhookSecrets } from './target.ts';

const URL = 'https://hooks.example/';
const MINUTE = 60_000;

describe('endpoints', () => {
  let place: Place;
  let store: StandingsStore;
  const secrets = createWebhookSecrets({ environment: 'sandbox', keyEncryptionKey: undefined });

  beforeEach(async () => {
    place = newPlace();
    store = await place.open();
  });
  afterEach(() => place.release());

  const create = (partnerId = 'inn', of = store) =>
    endpointsIn(of, secrets).create({ partnerId, url: URL });
  const created = async (partnerId?: string) => {
    const made = await create(partnerId);
    if (made === undefined) throw new Error('there are too many');
    return made.endpoint;
  };
  const stored = (webhookId: string) => store.webhooks.endpoints.get(webhookId);
  /** Gives events of members at these times their positions. */
  const happen = async (...times: number[]) => {
    let pending = times.map((occurredAt, index): PendingMemberEvent => {
      const id = `e-${Math.random()}`;
      const type = 'MEMBER_UPDATED' as const;
      const event = { id, type, partnerId: 'inn', memberId: `m-${index}`, occurredAt };
      return { ack: id, event, occurredAt };
    });
    const members = {
      pendingEvents: async (first: number) => pending.slice(0, first),
      async acknowledgeEvents(acks: readonly string[]) {
        pending = pending.filter(({ ack }) => !acks.includes(ack));
      },
    };
    const sequencer = createSequencer(store.feed, { members, retentionDays: 30 });
    while ((await sequencer.pass()) === true);
    await sequencer.release();
  };
  const wait = (webhookId: string, position: number) => {
    const messageId = messageIdOf(webhookId, position);
    return store.webhooks.waiting.put({
      messageId,
      position,
      occurredAt: 1,
      attempts: 1,
    });
  };
  const waiting = async () =>
    (await store.webhooks.waiting.select(() => true)).map(({ messageId }) => messageId).sort();

  test('an endpoint gets events from its creation on', async () => {
    await happen(Date.now(), Date.now());
    const endpoint = await created();
    expect(endpoint).toMatchObject({
      webhookId: expect.stringMatching(/^wh_[\w-]{16}$/),
      position: 2,
      state: 'active',
    });
    expect(await stored(endpoint.webhookId)).toMatchObject({ position: 2, state: 'active' });
    expect(await endpointsIn(store, secrets).list('inn')).toMatchObject([
      { webhookId: endpoint.webhookId },
    ]);
    expect(await endpointsIn(store, secrets).list('spa')).toEqual([]);
  });

  test('a partner has five at most, however many are created at once', async () => {
    const other = await place.open();
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, index) => create('inn', index % 2 === 0 ? store : other)),
    );
    expect(made.filter((one) => one !== undefined)).toHaveLength(5);
    expect(await endpointsIn(store, secrets).list('inn')).toHaveLength(5);
    expect(await store.webhooks.endpoints.select(() => true)).toHaveLength(5);
    expect(await create()).toBeUndefined();
    expect(await create('spa')).toBeDefined();
  });

  test('a removed one, even one whose removal was interrupted, makes room', async () => {
    const all = [];
    for (let i = 0; i < 5; i += 1) all.push(await created());
    const [first, second] = all as [(typeof all)[0], (typeof all)[0]];
    await endpointsIn(store, secrets).remove(first);
    await store.webhooks.endpoints.remove(second.webhookId);
    expect(await endpointsIn(store, secrets).list('inn')).toHaveLength(3);
    await created();
    await created();
    expect(await create()).toBeUndefined();
  });

  test('removing one takes what waits and what is logged with it, and nothing of others', async () => {
    const [endpoint, other] = [await created(), await created()];
    for (const { webhookId } of [endpoint, other]) {
      await wait(webhookId, 1);
      await store.webhooks.logs.put({ webhookId, delivered: [], failed: [] });
    }
    await endpointsIn(store, secrets).remove(endpoint);
    expect(await stored(endpoint.webhookId)).toBeUndefined();
    expect(await waiting()).toEqual([messageIdOf(other.webhookId, 1)]);
    expect(await store.webhooks.logs.get(endpoint.webhookId)).toBeUndefined();
    expect(await store.webhooks.logs.get(other.webhookId)).toBeDefined();
  });

  test('a log keeps the latest attempts, however many its messages had', async () => {
    const history = Array.from({ length: 12 }, (_, at) => ({ at, durationMs: 1, answer: 'no' }));
    const failed = Array.from({ length: 100 }, (_, index) => {
      const ended = { at: Date.now(), attempts: 10, durationMs: 1, answer: 'no' };
      return { id: `e-${index}`, type: 'TEST', ...ended, history };
    });
    for (const outcomes of [failed.slice(0, 60), failed.slice(60)])
      await addOutcomes(store.webhooks, 'wh_1', { delivered: [], failed: outcomes });
    const kept = (await store.webhooks.logs.get('wh_1'))?.failed ?? [];
    const whole = kept.filter((one) => one.history !== undefined);
    expect([kept.length, whole]).toEqual([100, failed.slice(-25)]);
  });

  test('after a rotation, the former secret is good for 24 hours', async () => {
    const { webhookId, secrets: before } = await created();
    const rotated = await endpointsIn(store, secrets).rotateSecret(webhookId);
    const kept = (await stored(webhookId))?.secrets ?? [];
    expect(kept).toEqual([
      { sealed: rotated?.secret },
      { sealed: before[0]?.sealed, until: expect.any(Number) },
    ]);
    expect(Math.round(((kept[1]?.until ?? 0) - Date.now()) / MINUTE)).toBe(24 * 60);
    await endpointsIn(store, secrets).rotateSecret(webhookId);
    expect((await stored(webhookId))?.secrets.slice(2)).toEqual([kept[1]]);
    for (let n = 0; n < 3; n += 1) await endpointsIn(store, secrets).rotateSecret(webhookId);
    expect((await stored(webhookId))?.secrets).toHaveLength(4);
    expect(await endpointsIn(store, secrets).rotateSecret('wh_other')).toBeUndefined();
  });

  test('what came while it was disabled is skipped when it is enabled', async () => {
    const { webhookId } = await created();
    expect(await endpointsIn(store, secrets).disable(webhookId, 'COMMAND')).toMatchObject({
      state: 'disabled',
      disabledBecause: 'COMMAND',
      revision: 2,
    });
    expect(await endpointsIn(store, secrets).disable(webhookId, 'COMMAND')).toMatchObject({
      disabledBecause: 'COMMAND',
      revision: 2,
    });
    await happen(Date.now(), Date.now(), Date.now());
    await wait(webhookId, 1);
    const enabled = await endpointsIn(store, secrets).enable(webhookId);
    expect(enabled).toMatchObject({ state: 'active', position: 3, revision: 3 });
    expect(enabled).not.toHaveProperty('disabledBecause');
    await happen(Date.now());
    expect(await endpointsIn(store, secrets).enable(webhookId)).toMatchObject({
      position: 3,
      revision: 3,
    });
    expect(await waiting()).toEqual([]);
  });

  test('those that were disabled since a time are listed, but for suspensions, until enabled', async () => {
    const since = Date.now();
    const disabled = async (because: 'CONSOLE' | 'SUSPENDED') => {
      const { webhookId } = await created();
      await endpointsIn(store, secrets).disable(webhookId, because);
      return webhookId;
    };
    const webhookId = await disabled('CONSOLE');
    await disabled('SUSPENDED');
    await created();
    const listed = await endpointsIn(store, secrets).disabledSince(since);
    const disabledAt = listed[0]?.disabledAt ?? 0;
    expect(listed).toEqual([{ webhookId, partnerId: 'inn', host: 'hooks.example', disabledAt }]);
    await endpointsIn(store, secrets).disable(webhookId, 'COMMAND');
    expect(await endpointsIn(store, secrets).disabledSince(disabledAt)).toEqual(listed);
    expect(await endpointsIn(store, secrets).disabledSince(disabledAt + 1)).toEqual([]);
    await endpointsIn(store, secrets).enable(webhookId);
    expect(await endpointsIn(store, secrets).disabledSince(since)).toEqual([]);
  });

  test('replaying goes back to the first event at that time or later', async () => {
    const start = Date.now() - 500 * MINUTE;
    await happen(...Array.from({ length: 450 }, (_, index) => start + index * MINUTE));
    const endpoint = await created();
    const { webhookId } = endpoint;
    for (const position of [5, 300, 400]) await wait(webhookId, position);
    const positionAfter = async (minutes: number) => {
      await store.webhooks.endpoints.put({ ...endpoint, position: 450 });
      await endpointsIn(store, secrets).replay(endpoint, new Date(start + minutes * MINUTE));
      const { position } = (await stored(webhookId)) ?? {};
      await takeEndpoint(store.webhooks, webhookId, Date.now());
      return position;
    };
    expect(await positionAfter(1_000)).toBe(450);
    expect(await positionAfter(449)).toBe(449);
    expect(await positionAfter(448.5)).toBe(449);
    expect(await positionAfter(299.5)).toBe(300);
    // What waits from before that time goes on waiting.
    expect(await waiting()).toEqual([5, 300].map((at) => messageIdOf(webhookId, at)));
    expect(await positionAfter(1)).toBe(1);
    expect(await positionAfter(0)).toBe(0);
    expect(await positionAfter(-10)).toBe(0);
    // What was not delivered yet is not skipped.
    await store.webhooks.endpoints.put({ ...endpoint, position: 9 });
    await endpointsIn(store, secrets).replay(endpoint, new Date());
    expect(await stored(webhookId)).toMatchObject({ position: 9 });
  });

  test('an event that came late does not hide those after the time of a replay', async () => {
    const start = Date.now() - 500 * MINUTE;
    for (let i = 0; i < 60; i += 1)
      await happen(i % 7 === 3 ? start - 1_000 * MINUTE : start + i * MINUTE);
    const endpoint = await created();
    for (const minutes of [20, 33, 47]) {
      await store.webhooks.endpoints.put({ ...endpoint, position: 60 });
      await endpointsIn(store, secrets).replay(
        endpoint,
        new Date(start + (minutes - 0.5) * MINUTE),
      );
      const { position = -1 } = (await stored(endpoint.webhookId)) ?? {};
      const first = minutes % 7 === 3 ? minutes + 1 : minutes;
      expect(position).toBe(first);
    }
  });

  /** Takes an endpoint, and its messages up to `end`, of which it sends all. */
  const takeAll = async (webhookId: string) => {
    const hold = await takeEndpoint(store.webhooks, webhookId, Date.now());
    const { last, page } = store.feed;
    const query = { after: hold?.position, first: 100, types: undefined };
    const read = await page('inn', query);
    if (hold === undefined || typeof read === 'string') throw new Error('not taken');
    const { queue } = hold;
    queue.add(read.events, await last('inn'));
    const take = () => queue.next(Date.now(), 100);
    if (queue.wantsShare(Date.now(), 100)) queue.share(Date.now() - 1);
    const sent: WaitingMessage[] = [];
    for (let one = take(); one !== undefined; one = take()) sent.push(one);
    const settle = (message: WaitingMessage | undefined, ok: boolean) =>
      message && queue.done(message, { ok }, Date.now(), 100);
    return { sent, settle, save: () => saveEndpoint(store.webhooks, hold, Date.now(), {}) };
  };

  test('what is refused while a replay begins is not lost', async () => {
    const endpoint = await created();
    const { webhookId } = endpoint;
    await happen(1, 2, 3);
    await store.webhooks.endpoints.put({ ...endpoint, position: 3 });
    const { endpoints } = store.webhooks;
    // A worker is faster than the command that it carries out.
    const update: typeof endpoints.update = async (id, next) => {
      const updated = await endpoints.update(id, next);
      const { sent, settle, save } = await takeAll(webhookId);
      for (const message of sent) settle(message, message !== sent[1]);
      await save();
      return updated;
    };
    const webhooks = { ...store.webhooks, endpoints: { ...endpoints, update } };
    await endpointsIn({ ...store, webhooks }, secrets).replay(endpoint, new Date(0));
    expect(await stored(webhookId)).toMatchObject({ position: 3 });
    expect(await waiting()).toEqual([messageIdOf(webhookId, 2)]);
  });

  test('replays in a loop send nothing again beyond their limit', async () => {
    const { webhookId } = await created();
    await happen(1, 2);
    const first = await takeAll(webhookId);
    for (const message of first.sent) first.settle(message, true);
    await first.save();
    await happen(3, 4, 5);
    const { sent, settle, save } = await takeAll(webhookId);
    settle(sent[2], true);
    const endpoint = await stored(webhookId);
    if (endpoint === undefined) throw new Error('no endpoint');
    await endpointsIn(store, secrets).replay(endpoint, new Date(2));
    await save();
    // The messages from 3 on were sent meanwhile, and are part of it.
    expect(await stored(webhookId)).toMatchObject({ position: 1, replay: { after: 1, to: 5 } });
    const again = await takeAll(webhookId);
    expect(again.sent.map(({ isReplayed }) => isReplayed)).toEqual([true, true, true]);
  });

  test('what an attempt ends in after its endpoint was disabled and enabled again is forgotten', async () => {
    const { webhookId } = await created();
    await happen(1);
    const first = await takeAll(webhookId);
    first.settle(first.sent[0], false);
    await first.save();
    await store.webhooks.waiting.update(
      messageIdOf(webhookId, 1),
      (row) => row && { ...row, nextAt: 0 },
    );
    const { sent, settle, save } = await takeAll(webhookId);
    expect(sent).toHaveLength(1);
    await endpointsIn(store, secrets).disable(webhookId, 'COMMAND');
    await endpointsIn(store, secrets).enable(webhookId);
    settle(sent[0], false);
    await save();
    const after = await stored(webhookId);
    expect(after).toMatchObject({ state: 'active', position: 1 });
    for (const name of ['failingSince', 'failures', 'waiting', 'lease'])
      expect(after).not.toHaveProperty(name);
  });

  test('an edit without a difference changes nothing, and triggers no attempt', async () => {
    const { webhookId } = await created();
    const edit = { url: URL, types: ['YEAR_ENDED' as const] };
    await endpointsIn(store, secrets).edit(webhookId, edit);
    await store.webhooks.endpoints.update(webhookId, (row) => row && { ...row, lastAttemptAt: 1 });
    expect(await endpointsIn(store, secrets).edit(webhookId, edit)).toMatchObject({
      revision: 2,
      lastAttemptAt: 1,
    });
    expect(await endpointsIn(store, secrets).edit(webhookId, { url: URL })).toMatchObject({
      revision: 3,
    });
  });

  test('of dropped events, a replay begins at the oldest that is kept', async () => {
    await happen(Date.now());
    const endpoint = await created();
    await store.feed.dropBefore(Number.MAX_SAFE_INTEGER);
    await endpointsIn(store, secrets).replay(endpoint, new Date(0));
    expect(await stored(endpoint.webhookId)).toMatchObject({ position: 1 });
  });
});
