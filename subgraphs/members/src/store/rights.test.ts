// What is kept of a member can be listed, and nothing of it is left after erasing.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backupStores } from '@partner-loyalty/runtime/store/backup.lmdb.ts';
import { address, memberImport, newPlace, type Place } from '../../test/engine.ts';
import { deliver } from '../mail/job.ts';
import { openMailer } from '../mail/mailer.ts';
import { makeToken } from '../rules/mailedtoken.ts';
import { createKeyVault } from '../signingkeys/signingkey.ts';
import { createMembersStore, type MembersStore, openRows } from '../store/store.ts';
import type { Job, MailTask } from '../tables/outbox.ts';
import { knownId } from '../tables/payloads.ts';

const NOW = Date.now();
const LATER = NOW + 60_000;
const ID = 'm-zerubbabel';
const EMAIL = 'Zerubbabel@erased.example';
const CURRENT = 'zerubbabel@erased.example';
const FORMER = 'zerubbabel@former.example';
/** Addresses, name, ID and external ID, in any case. */
const PERSONAL = /zerubbabel|babel-77/i;
/** The ID, which events keep until they are acknowledged, is left out. */
const MORE_THAN_ID = /(?<!m-)zerubbabel|babel-77/i;
const ZERU = memberImport(EMAIL, {
  memberId: ID,
  previous: [FORMER, 'taken@common.example'],
  firstName: 'Zerubbabel',
  enrollments: [{ partnerId: 'inn', externalId: 'babel-77' }, { partnerId: 'spa' }],
});

describe('rights', () => {
  let place: Place;
  let store: MembersStore;
  beforeEach(async () => {
    place = newPlace();
    store = await place.open();
  });
  afterEach(() => place.release());

  const queue = (jobId: string, task: MailTask, requestedAt = NOW) =>
    store.outbox.add({ jobId, task, requestedAt });
  const magicLink = (email: string): MailTask => ({
    kind: 'magic-link',
    partnerId: 'inn',
    address: email,
  });

  /** A member with everything that can be kept, and others who must keep theirs. */
  async function fill(): Promise<{ claimed: Job }> {
    // Had both before Zeru: one is Zeru's now, and one is Tess's again.
    await store.importMembers([
      memberImport('bea@common.example', { memberId: 'bea', previous: [FORMER] }),
      memberImport('al@common.example', { memberId: 'al', enrollments: [{ partnerId: 'inn' }] }),
      ZERU,
      memberImport('taken@common.example', { memberId: 'tess' }),
    ]);
    const token = { hash: makeToken('change').hash, expiresAt: NOW + 900_000 };
    await store.tokens.addChange(
      { use: 'change', ...token, address: address('zerubbabel@next.example') },
      ID,
      NOW,
    );
    await store.locks.lock(FORMER, NOW);
    await store.endedSessions.end({ memberId: ID, endedAt: NOW });
    await store.endedSessions.end({ memberId: 'al', endedAt: NOW });
    for (const hash of ['a', 'b'])
      await store.invitations.add(
        hash.repeat(64),
        { partnerId: 'pub', address: address(hash === 'a' ? EMAIL : 'al@common.example') },
        LATER,
      );
    await queue('failed', magicLink(FORMER), NOW - 2);
    const failing = await store.outbox.claim(NOW - 2, 1_000);
    if (failing) await store.outbox.giveUp(failing, NOW);
    await queue(
      'claimed',
      { kind: 'invitation', partnerId: 'inn', address: address(EMAIL) },
      NOW - 1,
    );
    const claimed = await store.outbox.claim(NOW - 1, 100_000);
    await queue('waiting', { kind: 'changed', memberId: ID, changeId: 'c' });
    await queue("tess's", magicLink('taken@common.example'));
    await queue("al's", magicLink('al@common.example'));
    for (const key of [`link\ninn\n${ID}`, `target\n${CURRENT}`, 'link\ninn\nal', 'partner\ninn'])
      await store.outbox.admit({ key, count: 5, windowMs: 60_000 }, NOW);
    // Without the member: who signs in as staff needs to be none.
    for (const known of [CURRENT, 'al@common.example'])
      await store.payloads.put(knownId(known), { browsers: ['x', 'y'] }, LATER);
    const folder = join(place.settings.dataDir, 'outbox');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, '1.eml'), `To: ${CURRENT}\r\nSubject: x\r\n\r\nHello\r\n`);
    writeFileSync(join(folder, '2.eml'), 'To: al@common.example\r\n\r\nHello\r\n');
    if (claimed === undefined) throw new Error('the job is due');
    return { claimed };
  }

  /** All that is stored: the files of a copy without freed pages, and mail. */
  async function everything(): Promise<string> {
    const { dataDir } = place.settings;
    const outbox = join(dataDir, 'outbox');
    const mail = readdirSync(outbox).map((name) => readFileSync(join(outbox, name), 'latin1'));
    const copy = join(dataDir, `copy-${Math.random()}`);
    await backupStores(dataDir, 'sandbox', copy);
    return mail.join() + readFileSync(join(copy, 'members', 'data.mdb'), 'latin1');
  }

  const acknowledgeAll = async () =>
    store.events.acknowledge((await store.events.pending(1_000)).map(({ ack }) => ack));

  test('lists what is kept, without the hashes of tokens', async () => {
    await fill();
    const found = await store.rights.find(ID);
    expect(found?.member).toMatchObject({
      memberId: ID,
      email: EMAIL,
      firstName: 'Zerubbabel',
      earlier: [FORMER],
      released: ['taken@common.example'],
      locked: [FORMER],
      tokens: [{ use: 'change', expiresAt: expect.any(Number) }],
    });
    expect(found?.invitations.map(({ partnerId }) => partnerId)).toEqual(['pub']);
    expect(found?.mail.map(({ jobId }) => jobId).sort()).toEqual(['claimed', 'failed', 'waiting']);
    expect(found?.mailCounts.map(({ key }) => key).sort()).toEqual([
      `link\ninn\n${ID}`,
      `target\n${CURRENT}`,
    ]);
    expect(found?.sessionsEndedAt).toBe(NOW);
    expect(found?.knownBrowsers).toEqual([{ address: CURRENT, browsers: 2 }]);
    expect(JSON.stringify(found)).not.toMatch(/[0-9a-f]{64}/);
    expect(await store.rights.find('nobody')).toBeUndefined();
  });

  test('attack: shows and takes nothing of an address that the member only asked for', async () => {
    await store.importMembers([memberImport(EMAIL, { memberId: ID })]);
    const eve = address('eve@others.example');
    const token = { hash: makeToken('change').hash, expiresAt: LATER };
    await store.tokens.addChange({ use: 'change', ...token, address: eve }, ID, NOW);
    const invitation = { partnerId: 'pub', address: eve, firstName: 'Eve' };
    await store.invitations.add('e'.repeat(64), invitation, LATER);
    await queue('hers', { kind: 'invitation', ...invitation });
    await store.outbox.admit({ key: `target\n${eve.canonical}`, count: 5, windowMs: 60_000 }, NOW);
    const found = await store.rights.find(ID);
    expect([found?.invitations, found?.mail, found?.mailCounts]).toEqual([[], [], []]);
    expect(await store.rights.erase(ID)).toBe(true);
    expect(await store.invitations.select(() => true)).toHaveLength(1);
    expect(await store.outbox.select(() => true)).toHaveLength(1);
  });

  test('leaves nothing after erasing, and takes nothing from others', async () => {
    await fill();
    expect(await everything()).toMatch(PERSONAL);
    expect(await store.rights.erase(ID)).toBe(true);
    expect(await everything()).not.toMatch(MORE_THAN_ID);
    await acknowledgeAll();
    expect(await everything()).not.toMatch(PERSONAL);
    expect(await store.rights.find(ID)).toBeUndefined();
    expect([
      await store.memberByEmail('inn', CURRENT),
      await store.memberByEmail('inn', FORMER),
      await store.memberByExternalId('inn', 'babel-77'),
      await store.member(ID),
    ]).toEqual([undefined, undefined, undefined, undefined]);

    expect(await store.member('bea')).toMatchObject({ released: [] });
    expect(await store.member('tess')).toMatchObject({ address: 'taken@common.example' });
    expect(await store.endedSessions.find('al')).toBe(NOW);
    const known = await store.payloads.select(({ id }) => id.startsWith('Known:'));
    expect(known.map(({ id }) => id)).toEqual([knownId('al@common.example')]);
    const jobs = await store.outbox.select(() => true);
    expect(jobs.map(({ jobId }) => jobId).sort()).toEqual(["al's", "tess's"]);
    const counts = await store.outbox.selectCounts(() => true);
    expect(counts.map(({ key }) => key).sort()).toEqual(['link\ninn\nal', 'partner\ninn']);
    expect(await store.invitations.select(() => true)).toHaveLength(1);
    expect(readdirSync(join(place.settings.dataDir, 'outbox'))).toEqual(['2.eml']);
    // Again, and for somebody who never was.
    expect([await store.rights.erase(ID), await store.rights.erase('nobody')]).toEqual([
      false,
      false,
    ]);
  });

  test.each(["o'brien@erased.example", 'Jürgen@München.example', 'a=b@erased.example'])(
    'removes the file of mail to %s',
    async (email) => {
      await store.importMembers([memberImport(email, { memberId: ID })]);
      const mailer = openMailer({
        dataDir: place.settings.dataDir,
        smtpUrl: undefined,
        mailFrom: 'Loyalty <loyalty@inn.example>',
      });
      for (const to of [email, 'al@common.example'])
        await mailer.send(
          { to, subject: 'x', text: 'Hello\n', html: '<p>Hello' },
          `${to.length}@x`,
        );
      await store.rights.erase(ID);
      const left = readdirSync(join(place.settings.dataDir, 'outbox'));
      expect(left.map((name) => name.split('_')[1])).toEqual(['17.eml']);
    },
  );

  test('refuses the member from then on, but not the addresses', async () => {
    await fill();
    await store.rights.erase(ID);
    const byAddress = memberImport(EMAIL, { previous: [FORMER] });
    expect(await store.importMembers([ZERU, byAddress, memberImport('new@x.example')])).toEqual([
      'erased',
      'added',
      'added',
    ]);
    expect(await store.member(ID)).toBeUndefined();
    expect(await store.enroll({ partnerId: 'pub', address: address(CURRENT) })).toMatchObject({
      outcome: 'enrolled',
      created: true,
    });
    const other = memberImport('other@x.example', { memberId: ID });
    expect(await store.endedSessions.find(ID)).toBeUndefined();
    expect([await store.rights.liftMark(ID), await store.rights.liftMark(ID)]).toEqual([
      true,
      false,
    ]);
    expect(await store.importMembers([other])).toEqual(['added']);
    // Tokens of before the erasure are not the new member's.
    expect(await store.endedSessions.find(ID)).toEqual(expect.any(Number));
  });

  test('keeps the mark, but not the ID that it is for', async () => {
    await store.rights.erase(ID);
    await place.closeAll();
    store = await place.open();
    expect(await store.rights.isErased(ID)).toBe(true);
    mkdirSync(join(place.settings.dataDir, 'outbox'), { recursive: true });
    expect(await everything()).not.toMatch(PERSONAL);
  });

  test('a worker that holds mail of the member neither sends it nor brings it back', async () => {
    const { claimed } = await fill();
    const sent: string[] = [];
    const mailer = { send: async ({ to }: { to: string }) => void sent.push(to) };
    // At the worst moment: when the mail is composed, and not sent yet.
    const invitations = {
      ...store.invitations,
      async add(...invitation: Parameters<typeof store.invitations.add>) {
        await store.rights.erase(ID);
        await store.invitations.add(...invitation);
      },
    };
    const sender = {
      store: { ...store, invitations },
      mailer,
      baseAddress: 'https://api.example',
      mailDomain: 'api.example',
    };
    const signal = new AbortController().signal;
    expect(await deliver(claimed, sender, NOW, signal)).toBe('dropped');
    await store.outbox.postpone(claimed, LATER);
    await store.outbox.giveUp(claimed, NOW);
    await store.outbox.finish(claimed);
    expect(sent).toEqual([]);
    // Requests with a token that is still valid.
    await queue('after', { kind: 'change', memberId: ID, address: address('new@next.example') });
    const [after] = (await store.outbox.select(() => true)).filter(
      ({ jobId }) => jobId === 'after',
    );
    const job = { ...claimed, jobId: 'after', task: after?.task ?? claimed.task };
    expect(await deliver(job, sender, NOW, signal)).toBe('dropped');
    await store.outbox.discard((task) => task.kind === 'change');
    await acknowledgeAll();
    expect(await everything()).not.toMatch(PERSONAL);
  });

  test('writes at the same time do not bring the member back', async () => {
    await fill();
    const other = await place.open();
    const writes = Array.from({ length: 30 }, (_, index) => {
      const token = { use: 'change', hash: makeToken('change').hash, expiresAt: LATER } as const;
      if (index % 3 === 0) return other.endEnrollment('spa', ID);
      if (index % 3 === 1) return other.importMembers([{ ...ZERU, lastName: `N${index}` }]);
      return other.tokens.addChange({ ...token, address: address(`z${index}@x.example`) }, ID, NOW);
    });
    await Promise.all([...writes, store.rights.erase(ID)]);
    // What failed or raced is repeated, as an operator would.
    await store.rights.erase(ID);
    expect(await store.member(ID)).toBeUndefined();
    await acknowledgeAll();
    expect(await everything()).not.toMatch(PERSONAL);
  });

  test('ends while the member is written all the time, and finds addresses that come', async () => {
    await fill();
    const rows = await openRows({ ...place.settings, environment: 'sandbox' });
    let writes = 0;
    /** Another process writes the member before each transaction of the erasure. */
    async function write() {
      writes += 1;
      if (writes > 200) throw new Error('the erasure has begun again too often');
      await store.updateNames('inn', ID, { firstName: `Zerubbabel ${writes}` });
      if (writes !== 2) return;
      const late = address('zerubbabel@late.example');
      const token = { hash: makeToken('change').hash, expiresAt: LATER };
      await store.tokens.addChange({ use: 'change', ...token, address: late }, ID, NOW);
      await store.tokens.confirmChange(token.hash, 'late', NOW);
      await store.invitations.add('c'.repeat(64), { partnerId: 'pub', address: late }, LATER);
    }
    const written: typeof rows = {
      ...rows,
      transact: async (...args) => {
        await write();
        return rows.transact(...args);
      },
    };
    const { dataDir } = place.settings;
    const vault = createKeyVault(undefined);
    const erasing = await createMembersStore(written, {
      vault,
      dataDir,
      onErasure: async () => {},
    });
    expect(await erasing.rights.erase(ID)).toBe(true);
    await erasing.close();
    await acknowledgeAll();
    expect(await everything()).not.toMatch(PERSONAL);
  });
});
