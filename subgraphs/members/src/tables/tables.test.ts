// The tables of members.

import { randomUUID } from 'node:crypto';
import { emptyPlace } from '../../../../test/support/servers/databases.ts';
import { type OpenedTables, openTables } from '../../../../test/support/store/tables.ts';
import { address, newPlace, type Place } from '../../test/engine.ts';
import { makeToken } from '../rules/mailedtoken.ts';
import { APPS, makeClientId, openApps } from './apps.ts';
import type { InvitationStore } from './invitation.ts';
import {
  type Job,
  MAIL_COUNTS,
  type MailTask,
  OUTBOX,
  type Outbox,
  openOutbox,
  QUEUES,
} from './outbox.ts';
import {
  BEGUN,
  openSignIns,
  SIGN_IN_MS,
  SIGN_INS,
  type SignInStore,
  secretHash,
} from './signins.ts';

const NOW = Date.parse('2026-03-04T05:06:07.089Z');

describe('invitations', () => {
  const LEASE = 1_000;
  let place: Place;
  let invitations: InvitationStore;
  let other: InvitationStore;

  beforeEach(async () => {
    place = newPlace();
    invitations = (await place.open()).invitations;
    other = (await place.open()).invitations;
  });
  afterEach(() => place.release());

  const INVITATION = { partnerId: 'inn', address: address('Eve@Example.com'), externalId: 'E-1' };
  const add = async (expiresAt = NOW + LEASE) => {
    const { hash } = makeToken('invitation');
    await invitations.add(hash, INVITATION, expiresAt);
    return hash;
  };

  test('an invitation is found by the hash of its token until it expires', async () => {
    const hash = await add();
    expect(await other.find(hash, NOW + LEASE - 1)).toEqual(INVITATION);
    expect(await other.find(hash, NOW + LEASE)).toBeUndefined();
    expect(await other.claim(hash, NOW + LEASE, LEASE)).toBeUndefined();
    expect(await other.find('0'.repeat(64), NOW)).toBeUndefined();
  });

  test('of 20 concurrent claims through two opened stores, one succeeds', async () => {
    const hash = await add();
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? invitations : other).claim(hash, NOW, LEASE)),
    );
    expect(claims.filter(Boolean)).toEqual([INVITATION]);
  });

  test('a claim that led to nothing ends with its lease, and one that did removes the invitation', async () => {
    const hash = await add(NOW + 10 * LEASE);
    await invitations.claim(hash, NOW, LEASE);
    expect(await other.claim(hash, NOW + LEASE - 1, LEASE)).toBeUndefined();
    expect(await other.claim(hash, NOW + LEASE, LEASE)).toEqual(INVITATION);
    await other.remove(hash);
    await other.remove(hash);
    expect(await invitations.claim(hash, NOW + 5 * LEASE, LEASE)).toBeUndefined();
    expect(await invitations.find(hash, NOW)).toBeUndefined();
  });

  test('the form that accepts can be sent again for a minute; nothing else can', async () => {
    const hash = await add(NOW + 3_600_000);
    const claim = (formId?: string, at = NOW) => other.claim(hash, at, LEASE, formId);
    expect([await claim('a'), await claim('a')]).toEqual([INVITATION, INVITATION]);
    await invitations.accepted(hash, NOW, 'a');
    const found = [await invitations.find(hash, NOW, 'a'), await claim('a', NOW + 59_999)];
    expect(found).toEqual([INVITATION, INVITATION]);
    expect([await invitations.find(hash, NOW), await claim('b'), await claim()]).toEqual([
      ...[undefined, undefined, undefined],
    ]);
    expect(await claim('a', NOW + 60_000)).toBeUndefined();
  });

  test('cleaning removes what has expired, and nothing else', async () => {
    const [expired, valid] = [await add(NOW), await add(NOW + 1)];
    await other.clean(NOW);
    expect([await invitations.find(expired, 0), await invitations.find(valid, 0)]).toEqual([
      undefined,
      INVITATION,
    ]);
  });
});

describe('the outbox', () => {
  const MINUTE = 60_000;
  const DAY = 24 * 60 * MINUTE;
  const LEASE = 2 * MINUTE;
  const TASK: MailTask = { kind: 'magic-link', partnerId: 'inn', address: 'ada@example.com' };
  const CODE: MailTask = { kind: 'code', signInId: 's', address: address('ada@x.example') };
  const CHANGE: MailTask = { kind: 'change', memberId: 'ada', address: address('ada@x.example') };
  let place: Place;
  let outbox: Outbox;
  let others: Outbox[];

  beforeEach(async () => {
    place = newPlace();
    outbox = (await place.open()).outbox;
    others = [(await place.open()).outbox, (await place.open()).outbox];
  });
  afterEach(() => place.release());

  const add = async (requestedAt = NOW, task: MailTask = TASK) => {
    const job = { jobId: randomUUID(), task, requestedAt };
    await outbox.add(job);
    return job;
  };
  const claimed = async (now: number, from = outbox): Promise<Job> => {
    const job = await from.claim(now, LEASE);
    if (job === undefined) throw new Error('no job is due');
    return job;
  };

  test('jobs are claimed in the order of their requests, none before it is due', async () => {
    const second = await add(NOW);
    const first = await add(NOW - 1);
    await add(NOW + 1);
    for (const job of [first, second])
      expect(await outbox.claim(NOW, LEASE)).toEqual({
        ...job,
        queue: expect.any(Number),
        dueAt: NOW + LEASE,
        attempts: 1,
        admitted: false,
      });
    expect(await outbox.claim(NOW, LEASE)).toBeUndefined();
  });

  test('queues take turns: what one owner has caused waits for one mail of each other', async () => {
    for (let n = 9; n > 0; n -= 1) await add(NOW - n * MINUTE);
    const spa = { ...TASK, partnerId: 'spa' };
    const others = [await add(NOW, spa), await add(NOW, CODE), await add(NOW, CHANGE)];
    const first = [];
    for (let n = 0; n < 4; n += 1) first.push(await claimed(NOW));
    const ids = first.map(({ jobId }) => jobId);
    expect(ids).toEqual(expect.arrayContaining(others.map(({ jobId }) => jobId)));
    for (let n = 8; n > 0; n -= 1) expect((await claimed(NOW)).requestedAt).toBe(NOW - n * MINUTE);
  });

  test('a job stays in its queue, postponed or claimed, so that no other kind comes before it', async () => {
    for (let n = 0; n < 9; n += 1) await add(NOW - DAY);
    const { jobId } = await add(NOW, CODE);
    const next = (now: number) => outbox.claim(now, LEASE, QUEUES.codes);
    for (let at = NOW; at < NOW + DAY; at += LEASE) {
      const code = await next(at);
      expect(code).toMatchObject({ jobId, dueAt: at + LEASE });
      expect(await next(at + LEASE - 1)).toBeUndefined();
      if (code && (at - NOW) % (2 * LEASE) === 0) await outbox.postpone(code, at + LEASE);
    }
    expect((await outbox.claim(NOW, LEASE, QUEUES.partners))?.requestedAt).toBe(NOW - DAY);
    expect(await outbox.claim(NOW, LEASE, QUEUES.changes)).toBeUndefined();
  });

  test('of more than 100 queues, the next claims look at the others', async () => {
    for (let n = 0; n < 200; n += 1) await add(NOW + DAY, { ...TASK, partnerId: `p${n}` });
    const { jobId } = await add(NOW, CHANGE);
    let found: Job | undefined;
    for (let n = 0; n < 3 && found === undefined; n += 1) found = await outbox.claim(NOW, LEASE);
    expect(found).toMatchObject({ jobId });
  });

  test('a queue that is not accepted is left out', async () => {
    await add();
    const { queue } = await claimed(NOW);
    await add();
    const spa = await add(NOW + 1, { ...TASK, partnerId: 'spa' });
    const others = () => outbox.claim(NOW + 1, LEASE, QUEUES.partners, (one) => one !== queue);
    expect([(await others())?.jobId, await others()]).toEqual([spa.jobId, undefined]);
  });

  test("a job that was stored before there were queues is claimed with partners' mail", async () => {
    const empty = emptyPlace('lmdb');
    const store = await openTables(empty.settings, [OUTBOX, MAIL_COUNTS]);
    try {
      const job = { jobId: 'old', task: CODE, requestedAt: NOW, attempts: 0, admitted: false };
      await (await store.open(OUTBOX)).put({ ...job, dueAt: NOW - 60 * MINUTE });
      const before = await openOutbox(store.open);
      expect(await before.claim(NOW, LEASE, QUEUES.codes)).toBeUndefined();
      const held = await before.claim(NOW, LEASE, QUEUES.partners);
      expect(held).toMatchObject({ ...job, attempts: 1, queue: 0 });
      if (held) await before.finish(held);
      expect((await before.waiting()).count).toBe(0);
    } finally {
      await store.close();
      await empty.release();
    }
  });

  test('a job is counted and added with what is written beside it, or not at all', async () => {
    const limit = { key: 'codes of\n192.0.2.1', count: 2, windowMs: MINUTE };
    let requestedAt = NOW;
    const within = (write = () => {}) => {
      const job = { jobId: randomUUID(), task: TASK, requestedAt };
      return outbox.addWithin([limit], job, write);
    };
    const failing = () => {
      throw new Error('not written');
    };
    await expect(within(failing)).rejects.toThrow('not written');
    expect([await within(), await within(), await within()]).toEqual([true, true, false]);
    expect((await outbox.waiting()).count).toBe(2);
    requestedAt += MINUTE;
    expect(await within()).toBe(true);
  });

  test('a job that is added again stays as it is, claimed or failed', async () => {
    const job = { jobId: 'once', task: TASK, requestedAt: NOW };
    await Promise.all([outbox, ...others].map((one) => one.add(job)));
    const held = await claimed(NOW);
    await others[0]?.add(job);
    expect(await outbox.holds(held)).toBe(true);
    await outbox.giveUp(held, NOW);
    await outbox.add(job);
    expect(await outbox.claim(NOW, LEASE)).toBeUndefined();
  });

  test('if many workers claim at the same time, each job goes to one of them', async () => {
    const added = await Promise.all(
      Array.from({ length: 10 }, (_, i) => add(NOW, i % 2 ? TASK : CODE)),
    );
    const claims = await Promise.all(
      Array.from({ length: 30 }, (_, i) => [outbox, ...others][i % 3]?.claim(NOW, LEASE)),
    );
    const ids = claims.flatMap((job) => (job ? [job.jobId] : []));
    expect(ids.sort()).toEqual(added.map(({ jobId }) => jobId).sort());
  });

  test('an expired claim can be claimed again, and its former holder can no longer change the job', async () => {
    await add();
    const lost = await claimed(NOW);
    expect(await outbox.claim(NOW + LEASE - 1, LEASE)).toBeUndefined();
    const again = await claimed(NOW + LEASE, others[0]);
    expect(again).toMatchObject({ jobId: lost.jobId, attempts: 2 });
    await outbox.finish(lost);
    await outbox.postpone(lost, NOW);
    await outbox.giveUp(lost, NOW);
    await outbox.markAdmitted(lost);
    expect([await outbox.claim(NOW + LEASE, LEASE), await outbox.failed()]).toEqual([undefined, 0]);
    expect(await claimed(NOW + 2 * LEASE)).toMatchObject({
      jobId: lost.jobId,
      attempts: 3,
      admitted: false,
    });
  });

  test('a postponed job is due again at its time, and is still marked as admitted', async () => {
    await add();
    const job = await claimed(NOW);
    await outbox.markAdmitted(job);
    await outbox.postpone(job, NOW + MINUTE);
    expect(await outbox.claim(NOW + MINUTE - 1, LEASE)).toBeUndefined();
    expect(await claimed(NOW + MINUTE)).toMatchObject({ jobId: job.jobId, admitted: true });
  });

  test('a job that was given up is kept as failed for 7 days', async () => {
    await add();
    await outbox.giveUp(await claimed(NOW), NOW);
    expect(await outbox.claim(NOW + DAY, LEASE)).toBeUndefined();
    await outbox.clean(NOW + 7 * DAY - 1);
    expect(await outbox.failed()).toBe(1);
    await outbox.clean(NOW + 7 * DAY);
    expect(await outbox.failed()).toBe(0);
  });

  test('the queue has the jobs that are due, claimed or postponed, and the oldest of them', async () => {
    expect(await outbox.waiting()).toEqual({ count: 0, oldestAt: undefined });
    await add(NOW - MINUTE);
    await add(NOW - 3);
    await outbox.postpone(await claimed(NOW), NOW + DAY);
    expect(await outbox.waiting()).toEqual({ count: 2, oldestAt: NOW - MINUTE });
    await outbox.giveUp(await claimed(NOW + DAY + LEASE), NOW);
    await outbox.finish(await claimed(NOW + DAY + LEASE));
    expect(await outbox.waiting()).toEqual({ count: 0, oldestAt: undefined });
    for (let n = 0; n < 550; n += 50)
      await Promise.all(Array.from({ length: 50 }, (_, i) => add(NOW + n + i)));
    await add(NOW - 1, CODE);
    expect(await outbox.waiting()).toEqual({ count: 551, oldestAt: NOW - 1 });
  });

  test('a limit admits exactly its count in any window, across all processes', async () => {
    const limit = { key: 'k', count: 5, windowMs: 15 * MINUTE };
    const asked = await Promise.all(
      Array.from({ length: 30 }, (_, i) => [outbox, ...others][i % 3]?.admit(limit, NOW)),
    );
    expect(asked.filter(Boolean)).toHaveLength(5);
    expect(await outbox.admit(limit, NOW + 15 * MINUTE - 1)).toBe(false);
    expect(await outbox.admit({ ...limit, key: 'another' }, NOW)).toBe(true);
    expect(await outbox.admit(limit, NOW + 15 * MINUTE)).toBe(true);
  });

  test('refusals do not count, and an admission counts until it is a window old', async () => {
    const limit = { key: 'k', count: 2, windowMs: 10 };
    const verdicts = [];
    for (const at of [0, 6, 7, 9, 10, 11, 16, 17])
      verdicts.push(await outbox.admit(limit, NOW + at));
    expect(verdicts).toEqual([true, true, false, false, true, false, true, false]);
  });

  test('with the clock put back, what was counted before counts for one more window', async () => {
    const limit = { key: 'k', count: 2, windowMs: 10 };
    for (const at of [0, 1]) await outbox.admit(limit, NOW + at);
    const verdicts = [];
    for (const at of [-MINUTE, 9 - MINUTE, 10 - MINUTE, 11 - MINUTE])
      verdicts.push(await outbox.admit(limit, NOW + at));
    expect(verdicts).toEqual([false, false, true, true]);
  });

  test('cleaning keeps the counts of windows that have not ended', async () => {
    const limit = { key: 'k', count: 1, windowMs: 10 };
    await outbox.admit(limit, NOW);
    await outbox.clean(NOW + 9);
    expect(await outbox.admit(limit, NOW + 9)).toBe(false);
    await outbox.clean(NOW + 10);
    expect(await outbox.admit(limit, NOW + 10)).toBe(true);
  });
});

// How many sign-ins may be open at the same time.
describe('at most six sign-ins at the same time', () => {
  let place: ReturnType<typeof emptyPlace>;
  let store: OpenedTables;
  let signIns: SignInStore;
  beforeEach(async () => {
    place = emptyPlace('lmdb');
    store = await openTables(place.settings, [SIGN_INS, BEGUN]);
    signIns = await openSignIns(store.open, { size: 6, characters: 0 });
  });
  afterEach(async () => {
    await store.close();
    await place.release();
  });

  let begun = 0;
  /** Begins one, named by its client address and a number, a second after the one before. */
  const begin = async (signInId: string, expiresAt?: number) => {
    begun += 1;
    const signIn = {
      signInId,
      address: address('ada@example.com'),
      client: signInId.replace(/-.*/, ''),
      expiresAt: expiresAt ?? Date.now() + SIGN_IN_MS + begun * 1_000,
      tries: 0,
    };
    await store.open.transact((tx) => signIns.begin(tx, signIn));
    await signIns.trim(signInId);
  };
  const beginAll = async (...signInIds: string[]) => {
    for (const signInId of signInIds) await begin(signInId);
  };
  const open = async (...signInIds: string[]) => {
    const found = await Promise.all(signInIds.map((signInId) => signIns.find(signInId)));
    return found.flatMap((one) => one?.signInId ?? []);
  };

  test('a flood from many addresses: the oldest of the address with most goes first', async () => {
    await beginAll('a-1', 'b-1', 'c-1', 'b-2', 'b-3', 'a-2');
    await begin('d-1');
    expect(await open('a-1', 'a-2', 'b-1', 'b-2', 'b-3', 'c-1')).toEqual([
      ...['a-1', 'a-2', 'b-2', 'b-3', 'c-1'],
    ]);
    await beginAll('e-1', 'f-1');
    expect(await open('a-2', 'b-3', 'c-1', 'd-1', 'e-1', 'f-1')).toHaveLength(6);
  });

  test('a code can be used again for a minute by whoever holds the sign-in, and no other ends it', async () => {
    await begin('a-1');
    const mailbox = 'ada@example.com';
    const [code, token] = [secretHash('a-1', '123'), secretHash('a-1', 'si_')];
    await signIns.mailed('a-1', { mailbox, code, token });
    const finish = (typed: string, by = '') => signIns.finish('a-1', 'code', typed, by);
    const proof = { mailed: { mailbox }, signIn: { usedBy: '' } };
    expect([await finish('123'), await finish('123', 'b')]).toMatchObject([proof, proof]);
    for (let tries = 0; tries < 5; tries += 1) expect(await finish('wrong')).toBe('ended');
    expect(await finish('123')).toMatchObject(proof);
    const [{ expiresAt = 0 } = {}] = await signIns.select(() => true);
    expect(expiresAt).toBeLessThanOrEqual(Date.now() + 60_000);
  });

  test('a flood with one from each address: the oldest of all goes first', async () => {
    await beginAll('d-1', 'c-1', 'e-1', 'f-1', 'b-1', 'g-1', 'a-1', 'h-1');
    expect(await open('e-1', 'f-1', 'b-1', 'g-1', 'a-1', 'h-1')).toHaveLength(6);
    expect(await signIns.select(() => true)).toHaveLength(6);
  });

  test('a flood that has expired takes nobody’s', async () => {
    const gone = Date.now() - 1;
    await beginAll('a-1', 'a-2');
    for (const signInId of ['b-1', 'b-2', 'b-3', 'a-0']) await begin(signInId, gone);
    await beginAll('c-1', 'd-1', 'e-1', 'f-1');
    expect(await open('a-1', 'a-2', 'c-1', 'd-1', 'e-1', 'f-1')).toHaveLength(6);
  });

  test('those that are finished or of an erased address take no place', async () => {
    await beginAll('a-1', 'a-2', 'a-3', 'b-1', 'b-2', 'c-1');
    for (let tries = 0; tries < 5; tries += 1) await signIns.finish('a-3', 'code', 'wrong', '');
    await begin('d-1');
    expect(await open('a-1', 'a-2', 'b-1', 'b-2', 'c-1', 'd-1')).toHaveLength(6);
    await signIns.discard(() => true);
    await beginAll('a-1', 'b-1', 'c-1', 'd-1', 'e-1', 'f-1');
    expect(await open('a-1', 'b-1', 'c-1', 'd-1', 'e-1', 'f-1')).toHaveLength(6);
  });
});

describe('apps', () => {
  const app = (partnerId: string, createdAt: number, clientId = makeClientId(partnerId)) => ({
    ...{ clientId, partnerId, name: 'Guide', redirectUris: [], origins: [], createdAt },
  });

  test("a partner's apps are found without reading others, and those with a former ID too", async () => {
    const place = emptyPlace();
    const store = await openTables(place.settings, [APPS]);
    try {
      let read = 0;
      const counting = async (definition: typeof APPS) => {
        const table = await store.open(definition);
        const startingWith = async (...given: Parameters<typeof table.startingWith>) => {
          const found = await table.startingWith(...given);
          read += found.length;
          return found;
        };
        return { ...table, startingWith, range: undefined, select: undefined };
      };
      // Cast: it opens this table only.
      const apps = await openApps(counting as unknown as typeof store.open);
      for (let made = 0; made < 30; made += 1) await apps.add(app('inn', made));
      const own = [app('spa', 2), app('spa', 3), app('spa', 1, `app_${'x'.repeat(16)}`)];
      for (const each of own) await apps.add(each);
      expect((await apps.list('spa')).map(({ createdAt }) => createdAt)).toEqual([1, 2, 3]);
      expect(read).toBe(3);
      expect(await apps.list('inn')).toHaveLength(30);
    } finally {
      await store.close();
      await place.release();
    }
  });
});
