// Inviting a person and accepting, through the subgraph and its mail.
import { address, memberImport } from '../../test/engine.ts';
import {
  ACCEPT,
  ENROLL,
  INVITATION,
  INVITE,
  partner,
  SERVICE,
  type SignInStage,
  startSignIn,
} from '../../test/signin.ts';

const ACCEPTED = { accepted: true };
const DAY = 24 * 3_600_000;

describe('inviting', () => {
  let stage: SignInStage;
  beforeEach(async () => {
    stage = await startSignIn();
  });
  afterEach(() => stage.release());

  const invite = (email: string, more: object = {}, partnerId = 'pub') =>
    stage.ask(partner(partnerId), INVITE, { input: { email, ...more } });
  const invited = (email: string, more: object = {}, to = email.toLowerCase()) =>
    stage.mailed(to, async () => expect(await invite(email, more)).toEqual(ACCEPTED));
  const accept = (token: string) => stage.ask(SERVICE, ACCEPT, { token });
  const who = async (email: string, partnerId = 'pub') =>
    (await stage.store.memberByEmail(partnerId, email))?.memberId;
  const later = async <T>(ms: number, act: () => Promise<T>): Promise<T> => {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + ms);
    try {
      return await act();
    } finally {
      clock.mockRestore();
    }
  };

  test('a person who is not a member is enrolled once the invitation is accepted', async () => {
    await stage.store.partners.put({ partnerId: 'pub', name: 'The Pub' });
    const more = { externalId: 'P-1', firstName: 'Eve', lastName: 'Moneypenny' };
    const token = await invited('Eve@Example.com', more);
    expect(await who('eve@example.com')).toBeUndefined();
    const shown = { partnerName: 'The Pub', email: 'Eve@Example.com' };
    for (let time = 0; time < 2; time += 1)
      expect(await stage.ask(SERVICE, INVITATION, { token })).toEqual(shown);
    expect(await accept(token)).toEqual(shown);
    expect(await stage.store.memberByExternalId('pub', 'P-1')).toMatchObject({
      memberId: await who('eve@example.com'),
      email: 'Eve@Example.com',
      firstName: 'Eve',
    });
  });

  test('of 20 concurrent acceptances, one succeeds, and an ended enrollment does not come back', async () => {
    const token = await invited('eve@example.com');
    const tries = await Promise.all(Array.from({ length: 20 }, () => accept(token)));
    expect(tries.filter((answer) => answer !== 'INVALID_TOKEN')).toHaveLength(1);
    const memberId = (await who('eve@example.com')) ?? '';
    await stage.store.endEnrollment('pub', memberId);
    expect(await accept(token)).toBe('INVALID_TOKEN');
    expect(await who('eve@example.com')).toBeUndefined();
  });

  test('an external ID that was taken meanwhile is left out', async () => {
    const token = await invited('eve@example.com', { externalId: 'P-1' });
    await stage.store.enroll({
      partnerId: 'pub',
      address: address('fay@x.example'),
      externalId: 'P-1',
    });
    expect(await accept(token)).toMatchObject({ email: 'eve@example.com' });
    expect(await stage.store.member((await who('eve@example.com')) ?? '')).toMatchObject({
      enrollments: [{ partnerId: 'pub', status: 'ACTIVE' }],
    });
    expect(await stage.store.memberByExternalId('pub', 'P-1')).toMatchObject({
      email: 'fay@x.example',
    });
  });

  test('an address that was locked meanwhile is not enrolled', async () => {
    const token = await invited('ada@example.com');
    await stage.store.locks.lock('ada@example.com', Date.now());
    expect(await accept(token)).toBe('INVALID_TOKEN');
    expect(await who('ada@example.com')).toBeUndefined();
  });

  test('a member is enrolled under the same ID and keeps the own names', async () => {
    const token = await invited('ada@example.com', { firstName: 'Eve' });
    expect(await accept(token)).toMatchObject({ email: 'Ada@Example.com' });
    expect(await stage.store.memberByEmail('pub', 'ada@example.com')).toMatchObject({
      memberId: 'ada',
      firstName: 'Ada',
    });
  });

  test('INVALID_TOKEN for an invitation that is used, expired, unknown or of another kind', async () => {
    const [used, expired] = [await invited('eve@example.com'), await invited('fay@example.com')];
    await accept(used);
    await later(7 * DAY, async () => expect(await accept(expired)).toBe('INVALID_TOKEN'));
    const magicLink = await stage.link();
    for (const token of [
      used,
      `in_${'x'.repeat(43)}`,
      magicLink,
      `in_${magicLink.slice(3)}`,
      'in_',
    ]) {
      expect(await accept(token)).toBe('INVALID_TOKEN');
      expect(await stage.ask(SERVICE, INVITATION, { token })).toBe('INVALID_TOKEN');
    }
    expect(await who('fay@example.com')).toBeUndefined();
    expect(await stage.ask(partner('pub'), ACCEPT, { token: expired })).toBe(
      'INTERNAL_SERVER_ERROR',
    );
  });

  test('whoever reads a former mailbox cannot agree for the member', async () => {
    const token = await invited('ada@example.com');
    await stage.store.importMembers([memberImport('next@example.com', { memberId: 'ada' })]);
    expect(await accept(token)).toBe('INVALID_TOKEN');
    expect(await who('next@example.com')).toBeUndefined();
    const again = await invited('ada@example.com', {}, 'next@example.com');
    expect(await accept(again)).toMatchObject({ email: 'next@example.com' });
    expect(await who('ada@example.com')).toBe('ada');
  });

  test('a partner whose members have to agree cannot enroll anybody, known or unknown', async () => {
    await stage.store.partners.put({ partnerId: 'pub', name: 'The Pub', consent: 'required' });
    await stage.store.locks.lock('bob@example.com', Date.now());
    for (const email of ['ada@example.com', 'eve@example.com', 'bob@example.com']) {
      expect(await stage.ask(partner('pub'), ENROLL, { input: { email } })).toBe(
        'CONSENT_REQUIRED',
      );
      expect(await stage.ask(partner('inn'), ENROLL, { input: { email } })).toMatchObject({});
    }
    expect(await accept(await invited('eve@example.com'))).toMatchObject({
      partnerName: 'The Pub',
    });
    await stage.store.partners.put({ partnerId: 'pub', name: 'The Pub' });
    expect(
      await stage.ask(partner('pub'), ENROLL, { input: { email: 'ada@example.com' } }),
    ).toEqual({ created: true });
  });

  test('BAD_USER_INPUT for the arguments that enrolling refuses', async () => {
    for (const [email, more] of [
      ['no address', {}],
      ['eve@example.com', { externalId: ' ' }],
      ['eve@example.com', { firstName: 'x'.repeat(101) }],
    ] as const)
      expect(await invite(email, more)).toBe('BAD_USER_INPUT');
  });
});
