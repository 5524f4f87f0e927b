// Invitations: the API, the mail and the page (docs/callers/members.md, Invitations).
import { tokenIn } from '../support/servers/mailserver.ts';
import { freePort } from '../support/servers/process.ts';
import { createVisitor } from '../support/servers/visitor.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { linkIn, newMember, nextEmail } from '../support/service/mailbox.ts';

const INVITE = 'mutation ($input: EnrollMemberInput!) { inviteMember(input: $input) { accepted } }';
const BY_EMAIL =
  'query ($email: String!) { memberByEmail(email: $email) { memberId email firstName } }';
const ACCEPTED = '{"data":{"inviteMember":{"accepted":true}}}';

describe('on the embedded store', () => {
  let service: InProcessService;
  let origin: string;
  let key: string;
  beforeAll(async () => {
    const port = await freePort();
    origin = `http://localhost:${port}`;
    const env = { PORT: `${port}`, SANDBOX_URL: origin, TRUSTED_PROXIES: '127.0.0.1' };
    service = await startInProcess({ env });
    key = service.keys.gamma;
    await service.stores.members.partners.put({ partnerId: 'gamma', name: 'Gamma & <b>Sons' });
  });
  afterAll(() => service.close());

  const invite = (email: string, more: object = {}) =>
    service.send({ query: INVITE, variables: { input: { email, ...more } }, key, requestId: 'r' });
  const invited = async (email: string, more: object = {}) =>
    nextEmail(service, email, async () => expect((await invite(email, more)).text).toBe(ACCEPTED));
  const found = async (email: string) =>
    (await service.send({ query: BY_EMAIL, variables: { email }, key })).body.data?.memberByEmail;
  const post = async (
    token: string,
    headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
  ) => {
    const body = new URLSearchParams({ token });
    const reply = await fetch(`${origin}/invitation`, { method: 'POST', headers, body });
    return { status: reply.status, text: await reply.text() };
  };

  test('the page names the partner and the address, and only its button enrolls', async () => {
    const link = linkIn(await invited('guest@example.com', { firstName: 'Guest' }));
    expect(link).toMatch(new RegExp(`^${origin}/invitation\\?token=in_[\\w-]{43}$`));
    for (const method of ['GET', 'HEAD', 'GET'])
      expect((await fetch(link, { method })).status).toBe(200);
    expect(await found('guest@example.com')).toBeNull();

    const visitor = createVisitor();
    const page = await visitor.visit(link);
    expect(page.html).toContain('Gamma &amp; &lt;b&gt;Sons');
    expect(page.html).toContain('guest@example.com');
    const { html } = await visitor.send(page, { token: tokenIn(link) });
    expect(html).toContain('guest@example.com is now enrolled');
    expect((await createVisitor().visit(link)).status).toBe(410);
    expect(await found('guest@example.com')).toMatchObject({ firstName: 'Guest' });
  });

  test('the response is the same for every address, and no store is searched for it', async () => {
    const { email } = await newMember(service);
    const seen = new Set<string>();
    for (const each of [
      email,
      'both.earlier@example.net',
      'ended@example.com',
      'new@example.org',
    ]) {
      service.calls.length = 0;
      const { status, text, headers } = await invite(each);
      seen.add(JSON.stringify([status, text, [...headers.keys()]]));
      expect(service.calls).toEqual([]);
    }
    expect(seen.size).toBe(1);
  });

  test('410 for a token that is not valid, and 429 for guessing, by opening as by posting', async () => {
    const guess = () => `in_${'x'.repeat(43)}`;
    const headers = { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': '192.0.2.77' };
    const statuses: number[] = [];
    for (let n = 0; n < 66; n += 1)
      statuses.push(
        n % 2
          ? (await post(guess(), headers)).status
          : (await fetch(`${origin}/invitation?token=${guess()}`, { headers })).status,
      );
    expect([statuses.slice(0, 60), statuses.slice(60)]).toEqual([
      Array(60).fill(410),
      Array(6).fill(429),
    ]);
    for (const query of ['', '?token=', '?token=ml_xxxxxxxxxxxx', '?token=in_<b>'])
      expect((await fetch(`${origin}/invitation${query}`)).status).toBe(404);
    expect((await fetch(`${origin}/invitation`, { method: 'PUT' })).status).toBe(405);
  });
});
