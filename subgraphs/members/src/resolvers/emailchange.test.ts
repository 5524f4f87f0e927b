// Changing an address, through the subgraph and its mail.
import {
  CONFIRM,
  CONFIRM_OWN,
  CONTEST,
  member,
  REQUEST_CHANGE,
  SERVICE,
  type SignInStage,
  startSignIn,
  UNDO,
} from '../../test/signin.ts';

describe('changing an address', () => {
  let stage: SignInStage;
  beforeEach(async () => {
    stage = await startSignIn();
  });
  afterEach(() => stage.release());

  test('a change of address is confirmed from the new mailbox and undone from the former one', async () => {
    const token = await stage.change('next@example.com');
    let profile: unknown;
    const undo = await stage.mailed('ada@example.com', async () => {
      profile = await stage.ask(member('ada'), CONFIRM_OWN, { token });
    });
    expect(profile).toEqual({
      memberId: 'ada',
      email: 'next@example.com',
      activePartnerIds: ['inn', 'spa'],
    });
    expect(await stage.ask(member('ada'), CONFIRM_OWN, { token })).toBe('INVALID_TOKEN');
    expect(await stage.store.memberByEmail('inn', 'ada@example.com')).toMatchObject({
      memberId: 'ada',
      email: 'next@example.com',
    });
    expect(await stage.ask(SERVICE, UNDO, { token: undo })).toEqual({
      memberId: 'ada',
      email: 'Ada@Example.com',
    });
    expect(await stage.ask(SERVICE, UNDO, { token: undo })).toBe('INVALID_TOKEN');
    expect(await stage.store.memberByEmail('inn', 'next@example.com')).toBeUndefined();
  });

  test('undoing ends the sessions and mails a notice to the address taken away, which contests it', async () => {
    const { endedSessions } = stage.store;
    const change = await stage.change('Next@Example.com');
    const undo = await stage.mailed('ada@example.com', () =>
      stage.ask(SERVICE, CONFIRM, { token: change }),
    );
    expect(await endedSessions.find('ada')).toBeUndefined();
    const token = await stage.mailed('next@example.com', () =>
      stage.ask(SERVICE, UNDO, { token: undo }),
    );
    const ended = (await endedSessions.find('ada')) ?? 0;
    expect(ended).toBeGreaterThan(0);
    expect(token).toMatch(/^co_/);
    // Mail goes to the local part as its owner typed it, and to the ASCII domain.
    expect(stage.server.mails.map(({ recipients }) => recipients)).toEqual([
      ['Next@example.com'],
      ['Ada@example.com'],
      ['Next@example.com'],
    ]);
    expect(await stage.ask(member('ada'), CONTEST, { token })).toBe('INTERNAL_SERVER_ERROR');
    expect(await stage.ask(SERVICE, CONTEST, { token: `co_${'x'.repeat(43)}` })).toBe(
      'INVALID_TOKEN',
    );
    expect(await stage.ask(SERVICE, CONTEST, { token })).toBe('ada');
    expect(await endedSessions.find('ada')).toBeGreaterThan(ended);
    expect(await stage.ask(SERVICE, CONTEST, { token })).toBe('INVALID_TOKEN');
    expect(await stage.ask(SERVICE, UNDO, { token: undo })).toBe('INVALID_TOKEN');
  });

  test("another member's current address is refused, but only when the change is confirmed", async () => {
    const token = await stage.change('bob@example.com');
    expect(await stage.ask(member('ada'), CONFIRM_OWN, { token })).toBe('EMAIL_IN_USE');
    expect(await stage.ask(SERVICE, CONFIRM, { token })).toBe('EMAIL_IN_USE');
    expect(await stage.store.memberByEmail('spa', 'bob@example.com')).toMatchObject({
      memberId: 'bob',
    });
  });

  test('on our own page, the token is enough to confirm a change', async () => {
    expect(
      await stage.ask(SERVICE, CONFIRM, { token: await stage.change('next@example.com') }),
    ).toEqual({
      memberId: 'ada',
      email: 'next@example.com',
    });
  });

  test("member A's change confirmed by member B is refused and not used up", async () => {
    const token = await stage.change('next@example.com', 'ada');
    expect(await stage.ask(member('bob'), CONFIRM_OWN, { token })).toBe('INVALID_TOKEN');
    expect(await stage.ask(member('ada'), CONFIRM_OWN, { token })).toMatchObject({
      email: 'next@example.com',
    });
  });

  test('an ID token that a partner exchanged can neither request nor confirm a change', async () => {
    const token = await stage.change('next@example.com');
    expect(
      await stage.ask(member('ada', 'inn'), REQUEST_CHANGE, { email: 'evil@example.com' }),
    ).toBe('FORBIDDEN');
    expect(await stage.ask(member('ada', 'inn'), CONFIRM_OWN, { token })).toBe('FORBIDDEN');
    expect(await stage.ask(member('ada'), CONFIRM_OWN, { token })).toMatchObject({
      email: 'next@example.com',
    });
  });
});
