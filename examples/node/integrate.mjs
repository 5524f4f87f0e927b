// Calls the Partner Loyalty API with Node's fetch and nothing else: see ../README.md.

const { PARTNER_LOYALTY_URL, PARTNER_LOYALTY_KEY, MAGIC_LINK_TOKEN } = process.env;
const ENDPOINT = PARTNER_LOYALTY_URL ?? 'http://localhost:4000/graphql';
const MEMBER = 'Teal.Heron@example.com';

/** An error of the API. Branch on `code`: the message can change. */
class ApiError extends Error {
  constructor({ message, extensions }) {
    super(message);
    this.code = extensions?.code;
    this.argument = extensions?.argument;
    this.requestId = extensions?.requestId;
  }
}

/** Resolves with the data, or rejects with the first error. */
async function ask(query, variables, credential = { 'x-partner-api-key': PARTNER_LOYALTY_KEY }) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(ENDPOINT, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...credential },
      body: JSON.stringify({ query, variables }),
      redirect: 'error', // The key goes nowhere else.
      signal: AbortSignal.timeout(10_000),
    });
    if (response.status === 429 && attempt < 5) {
      // The budget is spent. Nothing has run, so it is safe to send the request again.
      const seconds = Number(response.headers.get('retry-after') ?? 1);
      console.error(`the budget is spent: waiting ${seconds} s`);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
      continue;
    }
    const { data, errors } = await response.json();
    if (errors) throw new ApiError(errors[0]);
    return data;
  }
}

if (!PARTNER_LOYALTY_KEY) {
  console.error(
    'set PARTNER_LOYALTY_KEY to a partner key, such as the first that npm start prints',
  );
  process.exit(1);
}

const { memberByEmail: member } = await ask(
  `query ($email: String!) { memberByEmail(email: $email) {
    memberId tier points standing { nextTier pointsToNextTier yearEnd } } }`,
  { email: MEMBER },
);
console.log('found:', member.memberId, member.tier, member.points);
console.log(member.standing.pointsToNextTier, 'more points to', member.standing.nextTier);

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
    { authorization: `Bearer ${session.idToken}` },
  );
  for (const { partnerName, tier, points } of profile.standings)
    console.log('signed in:', partnerName, tier, points);
}
