// Which mail goes to which address, and how much of it.
import { randomUUID } from 'node:crypto';
import { canonicalEmail } from '@partner-loyalty/runtime/email.ts';
import { tokenIn } from '../../../../test/support/servers/mailserver.ts';
import { address, memberImport, newPlace, type Place } from '../../test/engine.ts';
import { createEnqueueMail } from '../resolvers/mail.ts';
import { hashToken } from '../rules/mailedtoken.ts';
import type { MembersStore } from '../store/store.ts';
import type { Job, MailTask } from '../tables/outbox.ts';
import { deliver, type Sender } from './job.ts';
import { admitTask, strangersLimit } from './limits.ts';
import type { Email } from './template.ts';

const NOW = Date.parse('2026-03-04T05:06:07.089Z');
const MINUTE = 60_000;
const SIGNAL = new AbortController().signal;

/** Jobs that are in the outbox and held. */
async function claimed({ outbox }: MembersStore, tasks: readonly MailTask[]): Promise<Job[]> {
  await Promise.all(
    tasks.map((task) => outbox.add({ jobId: randomUUID(), task, requestedAt: NOW })),
  );
  const jobs: Job[] = [];
  for (const _ of tasks) {
    const job = await outbox.claim(NOW, MINUTE);
    if (job !== undefined) jobs.push(job);
  }
  return jobs;
}

describe('mail from a store', () => {
  let place: Place;
  let store: MembersStore;
  let sender: Sender;
  let emails: (Email & { messageId: string })[];

  beforeEach(async () => {
    place = newPlace();
    store = await place.open();
    emails = [];
    const mailer = {
      send: async (email: Email, messageId: string) => void emails.push({ ...email, messageId }),
    };
    sender = { store, mailer, baseAddress: 'https://api.example', mailDomain: 'api.example' };
    await store.importMembers([
      memberImport('Ada@Example.com', {
        memberId: 'ada',
        previous: ['old@example.com'],
        enrollments: [{ partnerId: 'inn' }, { partnerId: 'spa' }],
      }),
    ]);
  });
  afterEach(() => place.release());

  const run = async (task: MailTask, now = NOW, requestedAt = now) => {
    if (!(await admitTask(task, store.outbox, now))) return 'dropped';
    await store.outbox.add({ jobId: randomUUID(), task, requestedAt });
    const job = await store.outbox.claim(now, MINUTE);
    return job && again(job, now);
  };
  const again = async (job: Job, now = NOW) => {
    let recipient: string | undefined;
    const hasPlace = (to: string) => {
      recipient = to;
      return true;
    };
    const outcome = await deliver(job, { ...sender, hasPlace }, now, SIGNAL);
    if (outcome === 'sent') expect(recipient).toBe(canonicalEmail(emails.at(-1)?.to ?? ''));
    if (outcome !== 'early') await store.outbox.finish(job);
    return outcome;
  };
  const ask = (partnerId: string, sought: string, now = NOW) =>
    run({ kind: 'magic-link', partnerId, address: sought }, now);
  const askChange = (email: string, memberId = 'ada', now = NOW) =>
    run({ kind: 'change', memberId, address: address(email) }, now);

  test('flood: what is asked for beyond a limit is answered alike and stored nowhere', async () => {
    let woken = 0;
    const enqueueMail = createEnqueueMail(store, () => {
      woken += 1;
    });
    const limit = { key: 'partner\ninn', count: 1_000, windowMs: 15 * MINUTE };
    for (let n = 0; n < 997; n += 1) await store.outbox.admit(limit, Date.now());
    const eve = address('eve@example.com');
    const notice = { kind: 'notice', partnerId: 'inn', about: 'a' } as const;
    const tasks: MailTask[] = [
      { kind: 'magic-link', partnerId: 'inn', address: 'eve@example.com' },
      { kind: 'invitation', partnerId: 'inn', address: eve },
      { ...notice, letter: 'staffInvited', address: 'new@inn.example' },
      { ...notice, letter: 'keyExpires', address: 'old@inn.example' },
      { kind: 'change', memberId: 'ada', address: eve },
    ];
    for (let round = 0; round < 25; round += 1)
      for (const task of tasks) expect(await enqueueMail(task)).toEqual({ accepted: true });
    const stored = await store.outbox.select(() => true);
    const counts = tasks.map(({ kind }) => stored.filter(({ task }) => task.kind === kind).length);
    expect(counts).toEqual([1, 1, 21, 21, 5]);
    expect(woken).toBe(stored.length);
  });

  test('flood: a member asks for 20 changes a day at most', async () => {
    const task = { kind: 'change', memberId: 'ada', address: address('eve@example.com') } as const;
    let admitted = 0;
    for (let at = NOW; at < NOW + 24 * 60 * MINUTE; at += 3 * MINUTE)
      if (await admitTask(task, store.outbox, at)) admitted += 1;
    expect(admitted).toBe(20);
    expect(await admitTask(task, store.outbox, NOW + 25 * 60 * MINUTE)).toBe(true);
  });

  test('exhaustion: changes by all members of a partner have one queue', async () => {
    const memberIds = ['eve', 'bob', 'kim', 'pat'];
    await store.importMembers(
      memberIds.map((memberId) =>
        memberImport(`${memberId}@example.com`, {
          memberId,
          enrollments: [{ partnerId: memberId === 'eve' ? 'gone' : 'bar' }, { partnerId: 'bar' }],
        }),
      ),
    );
    await store.endEnrollment('gone', 'eve');
    const enqueueMail = createEnqueueMail(store, () => {});
    for (const memberId of memberIds)
      await enqueueMail({ kind: 'change', memberId, address: address('new@example.com') });
    const queues = new Set<number | undefined>();
    for (const _ of memberIds) queues.add((await store.outbox.claim(Date.now(), MINUTE))?.queue);
    expect([...queues]).toEqual([expect.any(Number)]);
  });

  test('exhaustion: what waits for a place counts for the limits once, and has written nothing', async () => {
    await store.partners.put({ partnerId: 'inn', name: 'The Inn', invitations: 1 });
    const crowded = { ...sender, hasPlace: () => false };
    const jobs = [];
    for (const sought of ['eve@example.com', 'bob@example.com']) {
      const task: MailTask = { kind: 'invitation', partnerId: 'inn', address: address(sought) };
      await store.outbox.add({ jobId: sought, task, requestedAt: NOW });
      jobs.push(await store.outbox.claim(NOW, MINUTE));
    }
    const [first, second] = jobs as [Job, Job];
    expect(await deliver(first, crowded, NOW, SIGNAL)).toBe('crowded');
    expect(await deliver(second, crowded, NOW, SIGNAL)).toBe('limited');
    expect(await store.invitations.select(() => true)).toEqual([]);
    await store.outbox.putBack(first, NOW);
    const again = await store.outbox.claim(NOW, MINUTE);
    expect(again && (await deliver(again, sender, NOW, SIGNAL))).toBe('sent');
  });

  describe('invitations', () => {
    const invite = (email: string, partnerId = 'inn', now = NOW) =>
      run({ kind: 'invitation', partnerId, address: address(email) }, now);
    const invited = async (email: Email | undefined, now = NOW) => {
      const found = hashToken('invitation', tokenIn(email?.text)) ?? '';
      return (await store.invitations.find(found, now))?.address.canonical;
    };

    test('go to anybody, name the partner, and are valid for 7 days', async () => {
      await store.partners.put({ partnerId: 'inn', name: 'The Inn' });
      expect(await invite('Eve@Example.com')).toBe('sent');
      const [email] = emails;
      expect(email).toMatchObject({ to: 'Eve@Example.com', subject: 'The Inn invites you' });
      expect(email?.text).toMatch(/^https:\/\/api\.example\/invitation\?token=in_[\w-]{43}$/m);
      expect(email?.text).toContain('expires in 7 days');
      expect(await invited(email, NOW + 7 * 24 * 60 * MINUTE - 1)).toBe('eve@example.com');
      expect(await invited(email, NOW + 7 * 24 * 60 * MINUTE)).toBeUndefined();
    });

    test("for a member's earlier address go to the current one, which is what they invite", async () => {
      expect(await invite('old@example.com', 'pub')).toBe('sent');
      expect(emails[0]?.to).toBe('Ada@Example.com');
      expect(await invited(emails[0])).toBe('ada@example.com');
    });

    test('are not sent to a locked address', async () => {
      await store.locks.lock('old@example.com', NOW);
      expect([await invite('old@example.com'), await invite('ada@example.com')]).toEqual([
        'dropped',
        'sent',
      ]);
      await store.locks.lock('ada@example.com', NOW);
      expect(await invite('ada@example.com')).toBe('dropped');
    });

    test('mail bombing: the 6th to a mailbox in 15 minutes sends nothing', async () => {
      const outcomes = [];
      for (let i = 0; i < 6; i += 1)
        outcomes.push(await invite(i % 2 ? 'old@example.com' : 'ada@example.com'));
      for (let i = 0; i < 6; i += 1) outcomes.push(await invite('eve@example.com'));
      const six = ['sent', 'sent', 'sent', 'sent', 'sent', 'dropped'];
      expect(outcomes).toEqual([...six, ...six]);
      expect(await invite('eve@example.com', 'spa')).toBe('sent');
      expect(await invite('eve@example.com', 'inn', NOW + 15 * MINUTE)).toBe('sent');
    });

    test("beyond a partner's own number in 24 hours send nothing, and take no magic links", async () => {
      await store.partners.put({ partnerId: 'inn', name: 'The Inn', invitations: 2 });
      const outcomes = [];
      for (const name of ['eve', 'fay', 'gil']) outcomes.push(await invite(`${name}@example.com`));
      expect(outcomes).toEqual(['sent', 'sent', 'limited']);
      expect(await ask('inn', 'ada@example.com')).toBe('sent');
      expect(await invite('gil@example.com', 'spa')).toBe('sent');
      const day = 24 * 60 * MINUTE;
      expect(await invite('gil@example.com', 'inn', NOW + day - 1)).toBe('limited');
      expect(await invite('gil@example.com', 'inn', NOW + day)).toBe('sent');
    });
  });

  describe('magic links', () => {
    test('go to the current address, even if requested by an earlier one', async () => {
      expect(await ask('inn', 'old@example.com')).toBe('sent');
      const [email] = emails;
      expect(email).toMatchObject({
        to: 'Ada@Example.com',
        subject: 'Sign in to inn',
        messageId: expect.stringMatching(/^[\w-]{36}@api\.example$/),
      });
      expect(email?.text).toMatch(/^https:\/\/api\.example\/sign-in\?token=ml_[\w-]{43}$/m);
      const hash = hashToken('sign-in', tokenIn(email?.text)) ?? '';
      expect(await store.tokens.redeemSignIn(hash, 'own-page', NOW)).toMatchObject({
        memberId: 'ada',
      });
    });

    test("name the partner, open the partner's own page if it has one, and are then invalid on ours", async () => {
      await store.partners.put({
        partnerId: 'inn',
        name: 'The Inn',
        magicLinkUrl: 'https://inn.example/in?from=mail',
      });
      await ask('inn', 'ada@example.com');
      expect(emails[0]?.subject).toBe('Sign in to The Inn');
      expect(emails[0]?.text).toMatch(
        /^https:\/\/inn\.example\/in\?from=mail&token=ml_[\w-]{43}$/m,
      );
      const hash = hashToken('sign-in', tokenIn(emails[0]?.text)) ?? '';
      expect(await store.tokens.redeemSignIn(hash, 'own-page', NOW)).toBeUndefined();
      expect(await store.tokens.redeemSignIn(hash, { partnerId: 'inn' }, NOW)).toMatchObject({
        memberId: 'ada',
      });
    });

    test('no mail to unknown, not enrolled or ended members, or for text that is not an address', async () => {
      await store.endEnrollment('spa', 'ada');
      expect(await ask('inn', 'eve@example.com')).toBe('dropped');
      expect(await ask('pub', 'ada@example.com')).toBe('dropped');
      expect(await ask('spa', 'ada@example.com')).toBe('dropped');
      expect(await ask('inn', 'no address')).toBe('dropped');
      expect(emails).toEqual([]);
    });

    test("mail bombing: a partner's 6th request in 15 minutes sends nothing, by any of the addresses", async () => {
      const outcomes = [];
      for (const sought of ['ada', 'old', 'ada', 'old', 'ada', 'old', 'ada'])
        outcomes.push(await ask('inn', `${sought}@example.com`));
      expect(outcomes).toEqual(['sent', 'sent', 'sent', 'sent', 'sent', 'dropped', 'dropped']);
      expect(await ask('spa', 'ada@example.com')).toBe('sent');
      expect(await ask('inn', 'ada@example.com', NOW + 15 * MINUTE - 1)).toBe('dropped');
      expect(await ask('inn', 'ada@example.com', NOW + 15 * MINUTE)).toBe('sent');
    });

    test("to unconfirmed addresses count with the partner's invitations, each mail once", async () => {
      await store.partners.put({ partnerId: 'inn', name: 'The Inn', invitations: 2 });
      for (const name of ['eve', 'fay'])
        await store.enroll({ partnerId: 'inn', address: address(`${name}@example.com`) });
      await store.enroll({ partnerId: 'spa', address: address('eve@example.com') });
      const task: MailTask = { kind: 'magic-link', partnerId: 'inn', address: 'eve@example.com' };
      const [job] = await claimed(store, [task]);
      if (job === undefined) throw new Error('no job is due');
      expect(await deliver(job, sender, NOW, SIGNAL)).toBe('sent');
      expect(await again({ ...job, admitted: true })).toBe('sent');
      const invitation: MailTask = {
        kind: 'invitation',
        partnerId: 'inn',
        address: address('gil@example.com'),
      };
      expect(await run(invitation)).toBe('sent');
      expect([await ask('inn', 'fay@example.com'), await run(invitation)]).toEqual([
        'limited',
        'limited',
      ]);
      expect(await ask('inn', 'ada@example.com')).toBe('sent');
      expect(await ask('spa', 'eve@example.com')).toBe('sent');
      const day = 24 * 60 * MINUTE;
      expect(await ask('inn', 'fay@example.com', NOW + day - 1)).toBe('limited');
      expect(await ask('inn', 'fay@example.com', NOW + day)).toBe('sent');
    });

    test('a retried job is not counted again and has the same message ID and a new token', async () => {
      const task: MailTask = { kind: 'magic-link', partnerId: 'inn', address: 'ada@example.com' };
      await store.outbox.add({ jobId: 'j1', task, requestedAt: NOW });
      for (let i = 0; i < 4; i += 1) await ask('inn', 'ada@example.com', NOW - 1);
      const first = await store.outbox.claim(NOW, MINUTE);
      if (first === undefined) throw new Error('no job is due');
      await deliver(first, sender, NOW, SIGNAL);
      const second = await store.outbox.claim(NOW + MINUTE, MINUTE);
      if (second === undefined) throw new Error('no job is due');
      expect(await deliver(second, sender, NOW + MINUTE, SIGNAL)).toBe('sent');
      const [one, two] = emails.slice(-2);
      expect([one?.messageId, two?.messageId]).toEqual(['j1@api.example', 'j1@api.example']);
      expect(tokenIn(one?.text)).not.toBe(tokenIn(two?.text));
    });

    test("a token's 15 minutes start when the mail is composed, not when it was requested", async () => {
      await run(
        { kind: 'magic-link', partnerId: 'inn', address: 'ada@example.com' },
        NOW,
        NOW - 40 * MINUTE,
      );
      const hash = hashToken('sign-in', tokenIn(emails[0]?.text)) ?? '';
      expect(
        await store.tokens.redeemSignIn(hash, 'own-page', NOW + 15 * MINUTE - 1),
      ).toMatchObject({
        memberId: 'ada',
      });
    });
  });

  describe('changes of address', () => {
    test('the new address gets a confirmation link, even if another member has it', async () => {
      await store.importMembers([memberImport('bob@example.com', { memberId: 'bob' })]);
      expect(await askChange('Bob@Example.com')).toBe('sent');
      expect(emails[0]).toMatchObject({
        to: 'Bob@Example.com',
        subject: 'Confirm your new email address',
      });
      expect(emails[0]?.text).toMatch(/^https:\/\/api\.example\/sign-in\?token=ec_[\w-]{43}$/m);
      const hash = hashToken('change', tokenIn(emails[0]?.text)) ?? '';
      expect(await store.tokens.findChange(hash, NOW)).toEqual({
        memberId: 'ada',
        address: address('Bob@Example.com'),
        isMade: false,
      });
    });

    test("a member's 6th request in 15 minutes sends nothing, to any address", async () => {
      const outcomes = [];
      for (let i = 0; i < 7; i += 1) outcomes.push(await askChange(`next${i}@example.com`));
      expect(outcomes).toEqual(['sent', 'sent', 'sent', 'sent', 'sent', 'dropped', 'dropped']);
    });

    test('the 6th request for one address in 15 minutes sends nothing, for any member', async () => {
      await store.importMembers(
        Array.from({ length: 7 }, (_, i) =>
          memberImport(`m${i}@example.com`, { memberId: `m${i}` }),
        ),
      );
      const outcomes = [];
      for (let i = 0; i < 7; i += 1) outcomes.push(await askChange('victim@example.com', `m${i}`));
      expect(outcomes).toEqual(['sent', 'sent', 'sent', 'sent', 'sent', 'dropped', 'dropped']);
    });

    test('the former address gets a notice with a link that undoes the change', async () => {
      await askChange('next@example.com');
      await store.tokens.confirmChange(
        hashToken('change', tokenIn(emails[0]?.text)) ?? '',
        'c1',
        NOW,
      );
      expect(await run({ kind: 'changed', memberId: 'ada', changeId: 'c1' }, NOW + MINUTE)).toBe(
        'sent',
      );
      expect(emails[1]).toMatchObject({
        to: 'Ada@Example.com',
        subject: 'Your email address was changed',
      });
      expect(emails[1]?.text).toContain('until 2026-03-11 05:06 UTC');
      const hash = hashToken('undo', tokenIn(emails[1]?.text)) ?? '';
      const undo = { undoId: 'u1', taken: ['next@example.com'] };
      expect((await store.tokens.undoChange(hash, undo, NOW + 2 * MINUTE)).outcome).toBe('changed');
      const undone = { kind: 'undone', memberId: 'ada', undoId: 'u1' } as const;
      const lost = { ...undone, address: 'next@example.com' };
      expect(await run(lost, NOW + 3 * MINUTE)).toBe('sent');
    });

    test.each<MailTask>([
      { kind: 'changed', memberId: 'ada', changeId: 'c1' },
      { kind: 'undone', memberId: 'ada', undoId: 'u1', address: 'next@example.com' },
    ])(
      'a notice waits a minute for what it is about, and is dropped if that does not happen: $kind',
      async (task) => {
        expect(await run(task, NOW + MINUTE - 1, NOW)).toBe('early');
        expect(await run(task, NOW + 3 * MINUTE, NOW)).toBe('dropped');
      },
    );
  });
});

test('a partner can have 200 invitations in a day', () => {
  const day = { count: 200, windowMs: 24 * 60 * MINUTE };
  expect(strangersLimit({ partnerId: 'inn', name: 'The Inn' })).toMatchObject(day);
});
