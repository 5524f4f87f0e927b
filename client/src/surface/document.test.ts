// Documents that are built from a selection.
import { DEFAULTS, SCHEMA } from '../generated/partner.generated.ts';
import { buildDocument } from './document.ts';

const build = (selection: object, variables: Record<string, unknown> = { email: 'a' }) =>
  buildDocument(SCHEMA, 'Query', 'memberByEmail', variables, { ...selection });

test('all values are variables, those of arguments within the selection too', () => {
  const activities = { $arguments: { first: 2, after: undefined }, pageInfo: { endCursor: true } };
  expect(build({ memberId: true, activities, email: undefined })).toEqual({
    query:
      'query memberByEmail($email: String!, $first_1: Int) { memberByEmail(email: $email) ' +
      '{ memberId activities(first: $first_1) { pageInfo { endCursor } } } }',
    variables: { email: 'a', first_1: 2 },
  });
});

test('an argument that is left out is not sent, and null is', () => {
  const change = (variables: Record<string, unknown>) =>
    buildDocument(SCHEMA, 'Mutation', 'changeExternalId', variables, { memberId: true });
  expect(change({ memberId: 'm' }).variables).toEqual({ memberId: 'm' });
  expect(change({ memberId: 'm', externalId: null, more: 1 }).variables).toEqual({
    memberId: 'm',
    externalId: null,
  });
  expect(change({ memberId: 'm' }).query).toBe(
    'mutation changeExternalId($memberId: ID!, $externalId: String) ' +
      '{ changeExternalId(memberId: $memberId, externalId: $externalId) { memberId } }',
  );
});

test('what is selected by default takes no arguments', () => {
  const { query } = build(DEFAULTS.PartnerMemberRead);
  expect(query).toContain('standing { partnerId partnerName ');
  expect(query).not.toContain('activities');
});

test('a selection without an end is refused', () => {
  const endless: Record<string, unknown> = {};
  endless.standing = endless;
  expect(() => build(endless)).toThrow(/^select: /);
  expect(() => build(Object.create({ memberId: true }))).toThrow(/selects nothing/);
});
