// Delivery to real receivers: order, retries, takeover, and what disables.
import type { LogFields } from '@partner-loyalty/runtime/observe/fields.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { createSequencer } from '@partner-loyalty/standings/events/sequencer.ts';
import type { EventType } from '@partner-loyalty/standings/rules/event.ts';
import type { StandingsStore } from '@partner-loyalty/standings/store/store.ts';
import type { Endpoint } from '@partner-loyalty/standings/store/webhooks.ts';
import { activity, newPlace, type Place } from '../../../subgraphs/standings/test/engine.ts';
import { type Receiver, startReceiver } from '../../../test/support/servers/receiver.ts';
import { until } from '../../../test/support/until.ts';
import { startDeliveries } from './deliveries.ts';
import { endpointsIn } from './endpoints.ts';
import { takeShare } from './holding.ts';
import { createSender } from './send.ts';
import { createWebhookSecrets } from './target.ts';
import { summaryOf, TYPES } from './view.ts';

const HOUR_MS = 3_600_000;

const lineOf = ({ partner, webhookId, status, reason }: LogFields, message: string) =>
  [message, partner, webhookId, status, reason].filter((one) => one !== undefined).join(' ');

const secrets = createWebhookSecrets({ environment: 'sandbox', keyEncryptionKey: undefined });

describe('webhooks', () => {
  let place: Place;
  let store: StandingsStore;
  let receiver: Receiver;
  let laterMs: number;
  let sender: ReturnType<typeof createSender>;
  let workers: ReturnType<typeof startDeliveries>[];
  let metrics: ReturnType<typeof createMetrics>;
  const warnings: string[] = [];
  const lines: string[] = [];

  beforeEach(async () => {
    place = newPlace();
    store = await place.open();
    receiver = await startReceiver();
    sender = createSender({ webhookPrivate: 'on', host: '127.0.0.1' }, secrets);
    laterMs = 0;
    workers = [];
    metrics = createMetrics();
    warnings.length = 0;
    lines.length = 0;
  });
  afterEach(async () => {
    for (const worker of workers) await worker.stop();
    await sender.close();
    await receiver.close();
    await place.release();
  });

  const now = () => Date.now() + laterMs;
  function start(of: Pick<StandingsStore, 'feed' | 'webhooks'> = store, send = sender.send) {
    const log = {
      ...createLog('silent'),
      info: (fields: LogFields, message: string) => void lines.push(lineOf(fields, message)),
      warn(fields: LogFields, message: string) {
        if (message === 'webhook disabled') warnings.push(`${fields.reason}`);
        else lines.push(lineOf(fields, message));
      },
    };
    const worker = startDeliveries(of, { send, log, metrics, now });
    workers.push(worker);
    return worker;
  }
  async function create(webhookId = 'wh_1', change: Partial<Endpoint> = {}): Promise<string> {
    await store.webhooks.endpoints.put({
      webhookId,
      partnerId: 'inn',
      url: `${receiver.url}/${webhookId}`,
      state: 'active',
      secrets: [{ sealed: (await secrets.create()).sealed }],
      position: await store.feed.last('inn'),
      revision: 0,
      createdAt: now(),
      ...change,
    });
    return webhookId;
  }
  /** Gives everything a position. */
  async function sequence(): Promise<void> {
    const members = { pendingEvents: async () => [], acknowledgeEvents: async () => {} };
    const sequencer = createSequencer(store.feed, { members, retentionDays: 30 });
    while ((await sequencer.pass()) === true);
    await sequencer.release();
    for (const { wake } of workers) wake();
  }
  let count = 0;
  async function record(...memberIds: string[]): Promise<void> {
    for (const memberId of memberIds) {
      count += 1;
      await store.record([activity(`${count}`, count, { memberId })]);
    }
    await sequence();
  }
  const endpoint = async (webhookId = 'wh_1') => store.webhooks.endpoints.get(webhookId);
  const rows = () => store.webhooks.waiting.startingWith('wh_1/');
  const log = async () => store.webhooks.logs.get('wh_1');
  const members = (path = '/wh_1') =>
    receiver.received.flatMap((one) =>
      one.path === path ? [JSON.parse(one.body).data.memberId] : [],
    );
  const ids = () => receiver.received.map(({ headers }) => headers['webhook-id']);
  const receives = (total: number) => until(() => receiver.received.length >= total);

  test('an endpoint gets events from its creation on, each once, and where it is goes on after a restart', async () => {
    await record('ada');
    await create();
    const first = start();
    await record('bob', 'eve');
    await receives(2);
    await first.stop();
    await record('ada');
    start();
    await receives(3);
    expect(members()).toEqual(['bob', 'eve', 'ada']);
    const [{ body = '' } = {}] = receiver.received;
    const { type, timestamp, data } = JSON.parse(body);
    expect(data).toMatchObject({ id: ids()[0], type, occurredAt: timestamp, memberId: 'bob' });
    expect(Object.keys(data)).toHaveLength(6);
  });

  test('an event that was delivered is sent once more, with its ID, while others go on', async () => {
    await create();
    start();
    await record('ada', 'bob');
    await receives(2);
    await until(async () => (await log())?.delivered.length === 2);
    const [first] = (await log())?.delivered ?? [];
    const held = await endpoint();
    expect(
      first?.position !== undefined &&
        held &&
        (await endpointsIn(store, secrets).resend(held, first.position, first.id)),
    ).toBe(true);
    await receives(3);
    expect(ids()).toEqual([first?.id, expect.any(String), first?.id]);
    await until(async () => (await rows()).length === 0);
    await record('eve');
    await receives(4);
    expect(members()).toEqual(['ada', 'bob', 'ada', 'eve']);
  });

  test('12 replays that are asked for at once send each event once, and a new one does not wait for them', async () => {
    const everybody = Array.from({ length: 25 }, (_, index) => `m-${index}`);
    await record(...everybody);
    await create();
    const held = await endpoint();
    if (held === undefined) throw new Error('no endpoint');
    const asked = Array.from({ length: 12 }, () =>
      endpointsIn(store, secrets).replay(held, new Date(0)),
    );
    const started = (await Promise.all(asked)).filter((one) => one !== undefined);
    expect(started).toMatchObject([{ position: 0, replay: { after: 0, to: 25 } }]);
    await record('new');
    start();
    start();
    await receives(26);
    expect(members().sort()).toEqual([...everybody, 'new'].sort());
    expect(members().indexOf('new')).toBeLessThan(20);
    await until(async () => (await endpoint())?.replay === undefined);
    expect((await endpoint())?.position).toBe(26);
    expect(receiver.received).toHaveLength(26);
    const { replaysUntil = 0 } = (await store.webhooks.partners.get('inn')) ?? {};
    expect(replaysUntil).toBeGreaterThan(Date.now() - 2_000);
  });

  test("a partner's endpoints take turns of a second, whatever the clock of a process says", async () => {
    const share = (at: number) => takeShare(store.webhooks, 'inn', at);
    const taken = await Promise.all([share(1_000_000), share(1_000_000), share(1_000_000)]);
    expect(taken.sort()).toEqual([1_000_000, 1_001_000, 1_002_000]);
    await endpointsIn(store, secrets).create({ partnerId: 'inn', url: receiver.url });
    expect([await share(1_001_000), await share(500_000)]).toEqual([1_003_000, 560_000]);
  });

  test('a message keeps its attempts while it waits and with its outcome, and goes now if asked', async () => {
    await create();
    let status = 500;
    receiver.respond = () => status;
    start();
    await record('ada', 'bob');
    await until(async () => (await rows()).filter(({ history }) => history).length === 2);
    const [row] = await rows();
    expect(row?.history).toEqual([
      { at: expect.any(Number), durationMs: expect.any(Number), status: 500, reason: 'STATUS' },
    ]);
    const held = await endpoint();
    const messageId = row?.messageId ?? '';
    const hurry = async () => held && (await endpointsIn(store, secrets).hurry(held, messageId));
    expect(await hurry()).toBe(true);
    await receives(3);
    await until(async () => (await rows())[0]?.history?.length === 2);
    const [before] = await rows();
    expect(before).toMatchObject({ attempts: 1, history: [{}, { isExtra: true }] });
    expect(before).not.toHaveProperty('isAsked');
    status = 204;
    expect(await hurry()).toBe(true);
    await until(async () => (await log())?.delivered[0] !== undefined);
    expect((await log())?.delivered[0]).toMatchObject({
      id: row?.eventId,
      attempts: 2,
      history: [{ status: 500 }, { status: 500, isExtra: true }, { status: 204 }],
    });
    expect(await hurry()).toBe(false);
  });

  test('an endpoint that refuses everything is spared, says so, and gets what waits in order once it recovers', async () => {
    await create();
    let status = 500;
    receiver.respond = () => status;
    const first = start();
    const everybody = Array.from({ length: 30 }, (_, index) => `m-${index}`);
    await record(...everybody);
    await until(async () => (await endpoint())?.failures === 10);
    expect(ids()).toHaveLength(10);
    expect(lines).toEqual(['webhook failing inn wh_1 500 STATUS']);
    const held = await endpoint();
    expect(held && (await summaryOf(store, held))).toMatchObject({
      state: 'failing',
      failingSince: held?.failingSince,
      attempts: 10,
      lastStatus: 500,
      waiting: 30,
      nextAttemptAt: Number(held?.lastAttemptAt) + 5_000,
    });
    // Another process goes on with it.
    await first.stop();
    const worker = start();
    await until(async () => (await endpoint())?.lease !== undefined);
    expect((await endpoint())?.failures).toBe(10);
    laterMs += 5_000;
    worker.wake();
    await until(async () => (await endpoint())?.failures === 11);
    expect(members()[10]).toBe('m-0');
    expect((await rows()).map(({ attempts }) => attempts)).toEqual(Array(10).fill(1));
    status = 204;
    laterMs += 10_000;
    worker.wake();
    await receives(41);
    expect(members().slice(11)).toEqual(everybody);
    const recovered = await until(async () => {
      const row = await endpoint();
      const summary = row && (await summaryOf(store, row));
      return summary?.waiting === 0 && summary;
    });
    expect(recovered).toMatchObject({ state: 'active', attempts: 0 });
    const { failingSince, lastStatus, nextAttemptAt } = recovered;
    expect([failingSince, lastStatus, nextAttemptAt]).toEqual([undefined, undefined, undefined]);
    expect(lines.slice(1)).toEqual(['webhook recovered inn wh_1']);
    const attempts = (outcome: string, count: number) =>
      `loyalty_webhook_attempts_total{partner="inn",outcome="${outcome}"} ${count}\n`;
    const text = await metrics.text();
    expect(text).toContain(attempts('delivered', 30));
    expect(text).toContain('deliveries_total{partner="inn",outcome="delivered"} 30\n');
    expect(text).toContain(attempts('refused', 11));
    expect(text).toContain(attempts('timeout', 0));
  });

  test('a change by a command of a failing endpoint is tried at once', async () => {
    await create();
    receiver.respond = () => 500;
    const { wake } = start();
    await record(...Array.from({ length: 12 }, (_, index) => `m-${index}`));
    await until(async () => (await endpoint())?.failures === 10);
    laterMs += 5_000;
    wake();
    await until(async () => (await endpoint())?.failures === 11);
    expect(ids()).toHaveLength(11);
    const { url = '' } = (await endpoint()) ?? {};
    await endpointsIn(store, secrets).edit('wh_1', { url: `${url}/moved` });
    receiver.respond = ({ path }) => (path.endsWith('/moved') ? 204 : 500);
    await until(() => new Set(members('/wh_1/moved')).size === 12);
  });

  test('410 disables, and what waits is failed', async () => {
    await create();
    receiver.respond = ({ body }) => (body.includes('"bob"') ? 410 : 500);
    start();
    await record('ada', 'ada');
    await until(async () => (await rows()).length === 2);
    await record('bob');
    await until(async () => (await rows()).length === 0);
    expect(await endpoint()).toMatchObject({
      state: 'disabled',
      disabledBecause: 'GONE',
      disabledAt: expect.any(Number),
    });
    await until(() => warnings.length > 0);
    expect(warnings).toEqual(['GONE']);
    const failed = 'loyalty_webhook_deliveries_total{partner="inn",outcome="failed"} 3\n';
    expect(await metrics.text()).toContain(failed);
    const { length } = receiver.received;
    await record('eve');
    await create('wh_2');
    await record('eve');
    await until(() => members('/wh_2').length === 1);
    expect(receiver.received).toHaveLength(length + 1);
  });

  test('a member erased while a retry waits has nothing but his ID in it', async () => {
    await create();
    receiver.respond = () => 500;
    const worker = start();
    await record('ada');
    await until(async () => (await rows()).length === 1);
    expect(receiver.received[0]?.body).toContain('activityId');
    await store.eraseMember('ada');
    laterMs = 5_000;
    worker.wake();
    await receives(2);
    const { memberId, activityId } = JSON.parse(receiver.received[1]?.body ?? '').data;
    expect([memberId, activityId]).toEqual(['ada', undefined]);
    expect(JSON.stringify([await rows(), await log()])).not.toContain('activityId');
  });

  test('edits in a loop send nothing twice, whatever is in progress', async () => {
    await create();
    const worker = start();
    let edits = 0;
    receiver.respond = async ({ body }) => {
      if (!body.includes('"ada"')) return 204;
      edits += 1;
      await until(() => members().length >= 9 + 2 * edits);
      await endpointsIn(store, secrets).edit('wh_1', {
        url: `${receiver.url}/wh_1`,
        types: TYPES.slice(edits),
      });
      await record(`new-${edits}`);
      return 204;
    };
    const others = Array.from({ length: 10 }, (_, index) => `m-${index}`);
    await record('ada', 'ada', 'ada', ...others);
    for (let done = 0; done < 3; done += 1) await until(() => edits > done);
    worker.wake();
    await until(async () => (await endpoint())?.position === 16 && (await rows()).length === 0);
    expect(members().sort()).toEqual(
      ['ada', 'ada', 'ada', ...others, 'new-1', 'new-2', 'new-3'].sort(),
    );
    await until(async () => (await log())?.delivered.length === 16);
  });

  test("attack: a partner's endpoints that are edited at once read what waits one after another", async () => {
    const ids = ['wh_1', 'wh_2', 'wh_3'];
    for (const id of ids) await create(id);
    const done: string[] = [];
    const { endpoints, waiting } = store.webhooks;
    const webhooks: StandingsStore['webhooks'] = {
      ...store.webhooks,
      endpoints: {
        ...endpoints,
        select(test) {
          done.push('look');
          return endpoints.select(test);
        },
      },
      waiting: {
        ...waiting,
        startingWith(prefix, limit) {
          done.push('read');
          return waiting.startingWith(prefix, limit);
        },
      },
    };
    const reads = () => done.join().match(/read/g)?.length;
    start({ feed: store.feed, webhooks });
    await until(() => reads() === 3);
    await Promise.all(
      ids.map((id) => endpoints.update(id, (row) => row && { ...row, revision: 1 })),
    );
    await until(() => reads() === 6);
    expect(done.join()).toMatch(/look,read,look,read,look,read$/);
  });

  test('attack: messages that are refused and sent again are written twice a second at most', async () => {
    // Never ten in a row, after which it would be spared.
    receiver.respond = () => (receiver.received.length % 5 === 0 ? 204 : 500);
    await create();
    let saves = 0;
    const { endpoints } = store.webhooks;
    const webhooks: StandingsStore['webhooks'] = {
      ...store.webhooks,
      endpoints: {
        ...endpoints,
        update(id, next) {
          saves += 1;
          return endpoints.update(id, next);
        },
      },
    };
    await record(...Array.from({ length: 60 }, (_, member) => `m-${member}`));
    const startedAt = Date.now();
    start({ feed: store.feed, webhooks });
    await receives(60);
    await until(async () => (await rows()).length === 48);
    expect(saves).toBeLessThan(5 + (Date.now() - startedAt) / 500);
  });

  test('a replay that the own URL refuses keeps its 600 a minute when the URL becomes another', async () => {
    await record(...Array.from({ length: 35 }, (_, index) => `m-${index % 5}`));
    await create();
    receiver.respond = () => 500;
    const held = await endpoint();
    if (held === undefined) throw new Error('no endpoint');
    await endpointsIn(store, secrets).replay(held, new Date(0));
    const worker = start();
    await until(async () => (await endpoint())?.position === 35);
    expect(members()).toHaveLength(5);
    receiver.respond = () => 204;
    const { lease } = (await endpoint()) ?? {};
    await endpointsIn(store, secrets).edit('wh_1', { url: `${receiver.url}/victim` });
    await until(async () => ((await endpoint())?.lease?.token ?? lease?.token) !== lease?.token);
    laterMs += 5_000;
    const editedAt = now();
    worker.wake();
    await until(() => members('/victim').length === 35);
    // Each second of it lets ten go.
    const { replaysUntil = 0 } = (await store.webhooks.partners.get('inn')) ?? {};
    expect(replaysUntil).toBeGreaterThanOrEqual(editedAt + 3_000);
  });

  test('attack: a replay that is begun again and again writes no more rows than its shares have messages', async () => {
    await record(...Array(60).fill('ada'));
    await create();
    receiver.respond = () => 500;
    let [written, shares] = [0, 0];
    const { waiting, partners } = store.webhooks;
    const counting: StandingsStore['webhooks'] = {
      ...store.webhooks,
      waiting: { ...waiting, put: (row) => waiting.put(row).finally(() => (written += 1)) },
      partners: {
        ...partners,
        update: (...change) => partners.update(...change).finally(() => (shares += 1)),
      },
    };
    start({ ...store, webhooks: counting });
    const { disable, enable, replay } = endpointsIn(store, secrets);
    for (let cycle = 1; cycle <= 3; cycle += 1) {
      const held = await endpoint();
      expect(held && (await replay(held, new Date(0)))).toBeDefined();
      await receives(cycle);
      await until(async () => (await rows()).length > 0);
      await disable('wh_1', 'CONSOLE');
      await until(async () => (await endpoint())?.lease === undefined);
      await enable('wh_1');
    }
    expect(shares).toBeGreaterThanOrEqual(3);
    expect(written).toBeLessThanOrEqual(10 * shares);
  });

  test('each endpoint has its types', async () => {
    await create('wh_1', { types: ['PROGRAM_CHANGED'] satisfies EventType[] });
    await create('wh_2');
    start();
    await record('ada');
    await store.changeProgram('inn', {
      membershipYear: { start: '01-01', timeZone: 'UTC' },
      tiers: [{ name: 'Gold', points: 0 }],
    });
    await record('ada');
    await receives(4);
    expect(members('/wh_1')).toEqual([undefined]);
    expect(members('/wh_2')).toHaveLength(3);
    await until(async () => (await endpoint('wh_1'))?.position === 3);
  });

  test('five days of failures without one success disable, and the log says so', async () => {
    await create();
    receiver.respond = () => 500;
    const worker = start();
    await record('ada');
    await until(async () => (await endpoint())?.failingSince !== undefined);
    laterMs += 5 * 24 * HOUR_MS;
    worker.wake();
    await until(async () => (await endpoint())?.state === 'disabled');
    expect(await endpoint()).toMatchObject({
      disabledBecause: 'FAILING',
      disabledAt: expect.any(Number),
    });
    await until(() => warnings.length > 0);
    expect([warnings, await rows()]).toEqual([['FAILING'], []]);
  });

  test("attack: a partner's endpoints that hang share ten attempts, of which each has one, and delay no other endpoint", async () => {
    for (let at = 1; at <= 5; at += 1) await create(`wh_${at}`);
    await create('wh_6', { partnerId: 'spa', position: 0 });
    const answering = new Set(['/wh_6']);
    receiver.respond = async ({ path }) => {
      await until(() => answering.has(path));
      return 204;
    };
    start();
    const everybody = Array.from({ length: 30 }, (_, index) => `m-${index}`);
    for (const memberId of everybody)
      await store.record([activity(`spa-${memberId}`, 1, { memberId, partnerId: 'spa' })]);
    await record(...everybody);
    await until(() => members('/wh_6').length === 30);
    await receives(40);
    const ofInn = () => [1, 2, 3, 4, 5].map((at) => members(`/wh_${at}`).length);
    expect(ofInn()).not.toContain(0);
    expect(ofInn().reduce((sum, one) => sum + one)).toBe(10);
    answering.add('/wh_2');
    await until(() => members('/wh_2').length === 30);
    expect(ofInn().reduce((sum, one) => sum + one)).toBeLessThanOrEqual(40);
    for (const at of [1, 3, 4, 5]) answering.add(`/wh_${at}`);
    await receives(180);
  });

  test('attack: attempts that take long to begin leave other work its part of the event loop', async () => {
    await create();
    let tick = 0;
    let ticking = setImmediate(function next() {
      tick += 1;
      ticking = setImmediate(next);
    });
    const ticks = new Set<number>();
    start(store, async () => {
      ticks.add(tick);
      const begunAt = performance.now();
      while (performance.now() < begunAt + 6);
      return { ok: true, status: 204, durationMs: 6 };
    });
    await record(...Array.from({ length: 30 }, (_, index) => `m-${index}`));
    await until(async () => (await log())?.delivered.length === 30);
    clearImmediate(ticking);
    expect(ticks.size).toBeGreaterThan(15);
  });

  test('a burst of messages reads the feed in pages', async () => {
    await create();
    let reads = 0;
    const page: StandingsStore['feed']['page'] = (...query) => {
      reads += 1;
      return store.feed.page(...query);
    };
    await record(...Array.from({ length: 300 }, (_, index) => `m-${index}`));
    start({ ...store, feed: { ...store.feed, page } });
    await receives(300);
    expect(reads).toBeLessThan(100);
  });

  test('the backlog and its age come from the process that delivers', async () => {
    await create();
    receiver.respond = () => 500;
    start();
    await record('ada', 'ada', 'bob');
    await until(async () => (await metrics.text()).includes('backlog{partner="inn"} 3\n'));
    laterMs = 4_000;
    const line = /loyalty_webhook_oldest_seconds\{partner="inn"\} ([4-9]\.\d*|4)\n/;
    await until(async () => line.test(await metrics.text()));
  });
});
