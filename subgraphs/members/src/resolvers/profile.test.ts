// Names, and what tokens that a partner holds show, through the subgraph and its mail.
import { decodeJwt } from 'jose';
import {
  CONFIRM_OWN,
  EXCHANGE,
  member,
  partner,
  REQUEST,
  REQUEST_CHANGE,
  SERVICE,
  SIGN_IN,
  type SignInStage,
  startSignIn,
} from '../../test/signin.ts';

const SHOWN = '{ memberId email firstName lastName }';
const ENROLL = `mutation ($input: EnrollMemberInput!) { answer: enrollMember(input: $input) { created member ${SHOWN} } }`;
const UPDATE = `mutation ($memberId: ID!, $input: UpdateMemberInput!) { answer: updateMember(memberId: $memberId, input: $input) ${SHOWN} }`;
const UPDATE_OWN = `mutation ($input: UpdateProfileInput!) { answer: updateProfile(input: $input) ${SHOWN} }`;
const PROFILE = `query ($id: ID!) { answer: memberProfile(id: $id) ${SHOWN} }`;
const BY_EMAIL = `query ($email: String!) { answer: memberByEmail(email: $email) ${SHOWN} }`;

const ADA = { memberId: 'ada', email: 'Ada@Example.com', firstName: 'Ada', lastName: null };
const EVE = { firstName: 'Eve', lastName: 'Moneypenny' };

describe('on the embedded store', () => {
  let stage: SignInStage;
  beforeEach(async () => {
    stage = await startSignIn();
    await stage.store.partners.put({
      partnerId: 'pub',
      name: 'The Pub',
      magicLinkUrl: 'https://pub.example/in',
    });
  });
  afterEach(() => stage.release());

  const ask: SignInStage['ask'] = (...args) => stage.ask(...args);
  const profile = (partnerId?: string) => ask(member('ada', partnerId), PROFILE, { id: 'ada' });
  const enroll = (input: object) => ask(partner('pub'), ENROLL, { input });
  const update = (input: object, memberId = 'ada', partnerId = 'pub') =>
    ask(partner(partnerId), UPDATE, { memberId, input });
  const updateOwn = (input: object, partnerId?: string) =>
    ask(member('ada', partnerId), UPDATE_OWN, { input });

  test('a partner sees what it sent when it enrolled, and corrects it', async () => {
    const email = 'ADA@example.com';
    const seen = { memberId: 'ada', email, ...EVE };
    expect(await enroll({ email, ...EVE })).toEqual({ created: true, member: seen });
    expect(await update({ firstName: ' Augusta ' })).toEqual({ ...seen, firstName: 'Augusta' });
    expect(await update({ lastName: null })).toEqual({
      ...seen,
      firstName: 'Augusta',
      lastName: null,
    });
    expect(await ask(partner('inn'), BY_EMAIL, { email })).toEqual(ADA);
  });

  test('the member sets names that confirmed partners see, and nobody else', async () => {
    await enroll({ email: 'ada@example.com', firstName: 'Eve' });
    expect(await updateOwn({ lastName: 'Byron' })).toEqual({ ...ADA, lastName: 'Byron' });
    const byEmail = (partnerId: string) =>
      ask(partner(partnerId), BY_EMAIL, { email: 'ada@example.com' });
    for (const partnerId of ['inn', 'spa'])
      expect(await byEmail(partnerId)).toEqual({ ...ADA, lastName: 'Byron' });
    expect(await byEmail('pub')).toMatchObject({ firstName: 'Eve', lastName: null });
    expect(await ask(member('nobody'), UPDATE_OWN, { input: EVE })).toBe('MEMBER_NOT_FOUND');
  });

  test('names that the version before stored stay, and are shown without what alters text', async () => {
    const hidden = 'A\u202ed\u200ba\u2028';
    await stage.store.updateOwnNames('ada', { firstName: hidden, lastName: '\u2066' });
    await stage.store.partners.put({ partnerId: 'inn', name: 'The\u202e Inn' });
    const looked = await ask(partner('inn'), BY_EMAIL, { email: 'ada@example.com' });
    const standing = `query ($entities: [_Any!]!) { answer: _entities(representations: $entities) {
      ... on Standing { partnerName } } }`;
    const entities = [{ __typename: 'Standing', partnerId: 'inn' }];
    expect([looked, await profile(), await profile('inn')]).toEqual([ADA, ADA, ADA]);
    expect(await ask(partner('inn'), standing, { entities })).toEqual([{ partnerName: 'The Inn' }]);
    const record = await stage.store.member('ada');
    expect(record?.ownNames?.firstName).toBe(hidden);
  });

  test('MEMBER_NOT_FOUND for who is not enrolled with it, BAD_USER_INPUT for what is no name', async () => {
    for (const memberId of ['bob', 'ada', 'nobody'])
      expect(await update(EVE, memberId)).toBe('MEMBER_NOT_FOUND');
    for (const name of ['', ' ', 'x'.repeat(101), 'a\u0000'])
      expect(await update({ firstName: name }, 'ada', 'inn')).toBe('BAD_USER_INPUT');
    expect(await updateOwn({ lastName: ' ' })).toBe('BAD_USER_INPUT');
  });

  test('FORBIDDEN to set the own names with a token that a partner holds', async () => {
    expect(await updateOwn(EVE, 'inn')).toBe('FORBIDDEN');
    expect(await profile()).toEqual(ADA);
  });

  test('with a token that a partner holds, profile and claims show what that partner sees', async () => {
    await enroll({ email: 'ADA@example.com', ...EVE });
    expect(await profile('pub')).toEqual({ memberId: 'ada', email: 'ADA@example.com', ...EVE });
    expect(await profile('inn')).toEqual(ADA);
    const token = await stage.link('pub');
    const { idToken = '' } = await ask(partner('pub'), EXCHANGE, { token }).then(Object);
    expect(decodeJwt(idToken)).toMatchObject({ email: 'ADA@example.com', azp: 'pub' });
    const own = await ask(SERVICE, SIGN_IN, { token: await stage.link('inn') }).then(Object);
    expect(decodeJwt(own.idToken)).toMatchObject({ email: 'Ada@Example.com' });
    expect(await profile()).toEqual(ADA);
  });

  test('a token of an app shows the fields that the member has agreed to, whatever leads to them', async () => {
    const limited = (scopes: string) => ({ ...member('ada', 'inn'), scopes });
    const read = async (scopes: string, fields = '{ memberId email firstName lastName }') => {
      const query = `{ memberProfile(id: "ada") ${fields} }`;
      const caller = limited(scopes);
      const asked = { query, caller, requestId: 'r1' };
      const { data, errors = [] } = await stage.transport.execute(asked);
      const failed = errors.map(({ path, message, extensions }) => [
        extensions.code,
        path,
        message,
      ]);
      return [data?.memberProfile, ...failed];
    };
    const path = ['memberProfile', 'email'];
    const refused = [null, ['FORBIDDEN', path, 'the token lacks the scope email']];
    expect(await read('openid')).toEqual(refused);
    expect(await read('openid profile')).toEqual(refused);
    const noNames = { firstName: null, lastName: null };
    expect(await read('openid', '{ memberId firstName lastName }')).toEqual([
      { memberId: 'ada', ...noNames },
    ]);
    expect(await read('openid email')).toEqual([{ ...ADA, ...noNames }]);
    expect(await read('openid profile email')).toEqual([ADA]);
    const entity = `query ($entities: [_Any!]!) { answer: _entities(representations: $entities) {
      ... on MemberProfile { firstName email } } }`;
    const entities = [{ __typename: 'MemberProfile', memberId: 'ada' }];
    expect(await ask(limited('openid'), entity, { entities })).toBe('FORBIDDEN');
    expect(await ask(limited('openid email'), entity, { entities })).toEqual([
      { firstName: null, email: ADA.email },
    ]);
  });

  test('FORBIDDEN to change names without the scope profile, and an address without email', async () => {
    const [noNames, noAddress] = ['openid email', 'openid profile'].map((scopes) => ({
      ...member('ada'),
      scopes,
    }));
    const email = 'next@example.com';
    const token = await stage.change(email);
    expect([
      await ask(noNames ?? SERVICE, UPDATE_OWN, { input: EVE }),
      await ask(noAddress ?? SERVICE, REQUEST_CHANGE, { email }),
      await ask(noAddress ?? SERVICE, CONFIRM_OWN, { token }),
    ]).toEqual(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN']);
    expect(await profile()).toEqual(ADA);
    await ask(noNames ?? SERVICE, CONFIRM_OWN, { token });
    expect(await profile()).toEqual({ ...ADA, email });
  });

  test('a token of a partner without an enrollment shows no names but the own pair', async () => {
    expect(await profile('bar')).toEqual({ ...ADA, firstName: null });
    await updateOwn(EVE);
    expect(await profile('bar')).toEqual({ ...ADA, ...EVE });
  });

  test('a link to an address that a partner may not use is not sent', async () => {
    const token = await stage.change('next@example.com');
    await ask(member('ada'), CONFIRM_OWN, { token });
    expect(await enroll({ email: 'ada@example.com' })).toMatchObject({ created: true });
    // The mail that follows is for the address that it may use, and goes to the current one.
    const before = stage.server.mails.length;
    await ask(partner('pub'), REQUEST, { email: 'next@example.com' });
    const mailed = stage.mailed('next@example.com', () =>
      ask(partner('pub'), REQUEST, { email: 'ada@example.com' }),
    );
    expect(await ask(partner('pub'), EXCHANGE, { token: await mailed })).toMatchObject({
      memberId: 'ada',
    });
    expect(
      stage.server.mails.slice(before).filter(({ text }) => text?.includes('ml_')),
    ).toHaveLength(1);
    expect(await ask(partner('pub'), BY_EMAIL, { email: 'next@example.com' })).toMatchObject({
      email: 'next@example.com',
    });
  });
});
