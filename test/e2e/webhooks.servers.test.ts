// Webhooks from processes that are killed: what a receiver with a stock library gets in the end.
import { KEY_SCOPES } from '@partner-loyalty/gateway';
import type { StandingsStore } from '@partner-loyalty/standings';
import { Webhook } from 'standardwebhooks';
import { freshMongodbUrl } from '../support/servers/databases.ts';
import { type Received, startReceiver } from '../support/servers/receiver.ts';
import { createClient } from '../support/service/client.ts';
import { loyalty } from '../support/service/loyalty.ts';
import { startStack } from '../support/service/stack.ts';
import { addKey, addPartners } from '../support/service/testdata.ts';
import { until } from '../support/until.ts';

/** How many activities are recorded, and how often a process is killed meanwhile. */
const CHANGES = Number(process.env.TEST_CHANGES ?? 400);
const KILLS = Number(process.env.TEST_KILLS ?? 2);
/** Each reaches Silver, at 100 points, and nobody Gold. */
const MEMBERS = Math.floor(CHANGES / 100);
const ENROLL =
  'mutation ($input: EnrollMemberInput!) { read: enrollMember(input: $input) { member { memberId } } }';
const RECORD = `mutation ($activities: [ActivityInput!]!) {
  read: recordActivities(activities: $activities) { outcome } }`;

type Event = { id: string; type: string; memberId?: string };

const opened: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of opened.reverse()) await close();
});

/** Two processes, and what a test does with them. */
async function startProcesses(engine: string) {
  const database = engine === 'mongodb' ? freshMongodbUrl() : undefined;
  if (database) opened.push(database.drop);
  const receiver = await startReceiver();
  opened.push(receiver.close);
  const env = { RATE_LIMIT_BUDGET: '1000000', ...(database && { MONGODB_URL: database.url }) };
  const stack = await startStack('one process', env);
  opened.push(stack.close);
  await addPartners(stack.stores);
  const key = await addKey(stack.stores.keys, 'alpha', 'sandbox', { scopes: [...KEY_SCOPES] });
  const processes = [stack.gateway, await stack.addGateway()];

  /** Asks until the service is available, as clients do. */
  async function call<T>(query: string, variables: Record<string, unknown>): Promise<T> {
    const { body } = await until(async () => {
      const [process] = processes;
      const response = await createClient(process?.url ?? '', key)({ query, variables });
      return response.code !== 'SERVICE_UNAVAILABLE' && response;
    });
    if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors));
    return body.data?.read as T; // Cast: the schema guarantees it if there is no error.
  }
  async function create(...types: string[]): Promise<{ path: string; secret: string }> {
    const path = `/hook-${Math.random()}`;
    const url = `${receiver.url}${path}`;
    const args = ['webhooks', 'create', 'alpha', '--url', url, ...types, '--json'];
    const { stdout, stderr } = await loyalty(stack.env, ...args);
    if (stderr !== '') throw new Error(stderr);
    return { path, secret: JSON.parse(stdout).secret };
  }
  /** Kills a process as the system does when it is out of memory, and starts another one. */
  async function replace(index: number): Promise<void> {
    const [killed] = processes.splice(index, 1);
    if (killed === undefined) throw new Error('there is no such process');
    process.kill(killed.pid, 'SIGKILL');
    await killed.ended;
    processes.push(await stack.addGateway());
  }
  return { receiver, stores: stack.stores, call, create, replace };
}

// The engines at the same time: much of it is the wait for the lease of a killed process.
test.concurrent.each(['lmdb', 'mongodb'])(
  `each of ${CHANGES} changes comes once after de-duplication, in order per member, and nothing else, though processes are killed ${KILLS} times, on %s`,
  async (engine) => {
    const { receiver, stores, call, create, replace } = await startProcesses(engine);
    const hooks = [await create(), await create(), await create('--types', 'POINTS_CHANGED')];
    const accepted: (Received & { event: Event })[] = [];
    const seen = new Set<string>();
    const wrong: string[] = [];
    receiver.respond = (one) => {
      const id = `${one.headers['webhook-id']}`;
      const secret = hooks.find(({ path }) => path === one.path)?.secret ?? '';
      try {
        // Cast: the headers that it reads have one value.
        const headers = one.headers as Record<string, string>;
        const { data } = new Webhook(secret).verify(one.body, headers) as { data: Event };
        if (data.id !== id) wrong.push(`${id} is not ${data.id}`);
        const isFirst = !seen.has(one.path + id);
        seen.add(one.path + id);
        // Every now and then, the receiver has a bad moment.
        if (isFirst && seen.size % 100 === 0) return 503;
        accepted.push({ ...one, event: data });
        return 204;
      } catch (error) {
        wrong.push(`${error}`);
        return 400;
      }
    };

    const memberIds: string[] = [];
    for (let index = 0; index < MEMBERS; index += 1) {
      const input = { email: `hook-${index}@example.com` };
      const { member } = await call<{ member: { memberId: string } }>(ENROLL, { input });
      memberIds.push(member.memberId);
    }
    for (let done = 0, killed = 0; done < CHANGES; done += 50) {
      const activities = Array.from({ length: 50 }, (_, index) => ({
        activityId: `night-${done + index}`,
        memberId: memberIds[(done + index) % MEMBERS],
        points: 1,
        occurredAt: new Date().toISOString(),
      }));
      const outcomes = await call<{ outcome: string }[]>(RECORD, { activities });
      for (const { outcome } of outcomes) expect(outcome).toMatch(/^(ALREADY_)?RECORDED$/);
      if (done / CHANGES < killed / KILLS) continue;
      const { length } = receiver.received;
      await until(() => receiver.received.length > length + 20);
      await replace(killed % 2);
      killed += 1;
    }

    // Each member enrolls, and reaches one tier.
    const expected = await eventsOf(stores.standings, CHANGES + 2 * MEMBERS);
    expect(expected.filter(({ type }) => type === 'POINTS_CHANGED')).toHaveLength(CHANGES);
    for (const { path } of hooks) {
      const types = path === hooks[2]?.path ? ['POINTS_CHANGED'] : undefined;
      const wanted = expected.filter(({ type }) => types?.includes(type) ?? true);
      const first = new Map<string, Event>();
      await whileGrowing(() => {
        for (const one of accepted)
          if (one.path === path && !first.has(one.event.id)) first.set(one.event.id, one.event);
        return first.size;
      }, wanted.length);
      expect(byMember([...first.values()])).toEqual(byMember(wanted));
    }
    expect(wrong).toEqual([]);
  },
  900_000,
);

/** Waits until a size is reached, for as long as it grows. */
async function whileGrowing(sizeOf: () => number | Promise<number>, end: number): Promise<void> {
  for (let size = await sizeOf(); size < end; size = await sizeOf()) {
    const before = size;
    await until(async () => (await sizeOf()) > before);
  }
}

/** All events of alpha, once there are as many. */
async function eventsOf({ feed }: StandingsStore, count: number): Promise<Event[]> {
  await whileGrowing(() => feed.last('alpha'), count);
  const query = { after: undefined, first: 1_000_000, types: undefined };
  const page = await feed.page('alpha', query);
  if (typeof page === 'string') throw new Error(page);
  return page.events.map(({ event: { partnerId, occurredAt, ...event } }) => event);
}

/** What each member's events are, in their order. */
function byMember(events: readonly Event[]): Map<string | undefined, string[]> {
  const lists = new Map<string | undefined, string[]>();
  for (const { memberId, id, type } of events)
    lists.set(memberId, [...(lists.get(memberId) ?? []), `${type} ${id}`]);
  return lists;
}
