// From a look-up to a member who is signed in, with Node alone: see ../README.md.
import { ask, run } from './api.mjs';

const { MAGIC_LINK_TOKEN } = process.env;
const MEMBER = 'Teal.Heron@example.com';

const ACTIVITIES = `query ($memberId: ID!, $after: String) { memberById(memberId: $memberId) {
  activities(first: 5, after: $after) {
    edges { node { activityId points occurredAt } } pageInfo { hasNextPage endCursor } } } }`;

/** The activities of a member, newest first, a page at a time. */
async function* pagesOf(memberId) {
  for (let after = null; ; ) {
    const page = (await ask(ACTIVITIES, { memberId, after })).memberById.activities;
    yield page;
    if (!page.pageInfo.hasNextPage) return;
    after = page.pageInfo.endCursor;
  }
}

await run(async () => {
  const { memberByEmail: member } = await ask(
    `query ($email: String!) { memberByEmail(email: $email) {
      memberId tier points standing { nextTier pointsToNextTier yearEnd } } }`,
    { email: MEMBER },
  );
  console.log('found:', member.memberId, member.tier, member.points);
  console.log(member.standing.pointsToNextTier, 'more points to', member.standing.nextTier);

  let pages = 0;
  let count = 0;
  for await (const { edges } of pagesOf(member.memberId)) {
    pages += 1;
    count += edges.length; // edges[0].node is the newest.
  }
  console.log('activities:', count, 'in', pages, 'pages');

  const keys = [{ memberId: 'demo-001' }, { externalId: '1001' }, { email: 'nobody@example.com' }];
  const { memberLookups } = await ask(
    'query ($keys: [MemberKey!]!) { memberLookups(keys: $keys) { member { memberId points } } }',
    { keys },
  );
  console.log('several:', ...memberLookups.map((found) => found.member?.points ?? 'not found'));

  try {
    await ask('query ($id: String!) { memberByExternalId(externalId: $id) { memberId } }', {
      id: 'no-such-id',
    });
  } catch (error) {
    if (error.code !== 'MEMBER_NOT_FOUND') throw error;
    console.log('not a member of ours:', error.code);
  }

  const ENROLL = `mutation ($input: EnrollMemberInput!) {
    enrollMember(input: $input) { created member { memberId } } }`;
  const input = { email: 'node.example@example.com', externalId: 'example-node' };
  const { enrollMember } = await ask(ENROLL, { input });
  console.log('enrolled:', enrollMember.created);
  // Enrolling again is safe, for example after a lost response.
  console.log('again:', (await ask(ENROLL, { input })).enrollMember.created);
  await ask('mutation ($memberId: ID!) { endEnrollment(memberId: $memberId) { memberId } }', {
    memberId: enrollMember.member.memberId,
  });
  console.log('ended');

  if (!MAGIC_LINK_TOKEN) {
    await ask('mutation ($email: String!) { requestMagicLink(email: $email) { accepted } }', {
      email: MEMBER,
    });
    console.log('a sign-in link is on its way: run this again with its token as MAGIC_LINK_TOKEN');
  } else {
    const { exchangeMagicLink: session } = await ask(
      'mutation ($token: String!) { exchangeMagicLink(token: $token) { memberId idToken } }',
      { token: MAGIC_LINK_TOKEN },
    );
    const { memberProfile: profile } = await ask(
      'query ($id: ID!) { memberProfile(id: $id) { email standings { partnerName tier points } } }',
      { id: session.memberId },
      { credential: { authorization: `Bearer ${session.idToken}` } },
    );
    for (const { partnerName, tier, points } of profile.standings)
      console.log('signed in:', partnerName, tier, points);
  }
});
