// The audit log of a service: a line for each member that a partner was shown or changed.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Folder, temporaryFolder } from '../support/folder.ts';
import type { ApiRequest } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { toolCall } from '../support/service/mcp.ts';
import { addKey } from '../support/service/testdata.ts';
import { until } from '../support/until.ts';

type Line = Record<string, unknown>;

describe('on the embedded store', () => {
  let folder: Folder;
  let path: string;
  let service: InProcessService;
  let alphaKeyId: string | undefined;
  beforeAll(async () => {
    folder = temporaryFolder();
    path = join(folder.path, 'audit.log');
    service = await startInProcess({ env: { AUDIT_LOG: path } });
    alphaKeyId = (await service.stores.keys.keys('alpha'))[0]?.keyId;
  });
  afterAll(async () => {
    await service.close();
    folder.remove();
  });

  const lines = (): Line[] =>
    existsSync(path)
      ? readFileSync(path, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line))
      : [];

  let count = 0;

  /** Sends a request, then one that surely writes a line, and returns the lines of the first. */
  async function linesOf(request: ApiRequest): Promise<Line[]> {
    count += 1;
    const [requestId, marker] = [`audited-${count}`, `marker-${count}`];
    await service.send({ ...request, requestId });
    await service.send({
      query: '{ memberByEmail(email: "both@example.com") { tier } }',
      requestId: marker,
    });
    process.emit('SIGHUP');
    await until(() => lines().some((line) => line.requestId === marker));
    return lines().filter((line) => line.requestId === requestId);
  }

  const ofAlpha = () => ({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    partner: 'alpha',
    keyId: alphaKeyId,
    requestId: `audited-${count}`,
  });

  test('look-ups: each member that was shown, once for each root field', async () => {
    const query = `{
      one: memberByEmail(email: "both@example.com") { email }
      two: memberByEmail(email: "BOTH.earlier@example.net") { tier }
      three: memberByExternalId(externalId: "alpha-2") { firstName points }
      four: memberByEmail(email: "nobody@example.com") { email }
      five: memberByEmail(email: "beta.only@example.com") { email }
    }`;
    expect(await linesOf({ query })).toEqual([
      { ...ofAlpha(), operation: 'memberByEmail', memberId: 'm-both', fields: ['email', 'tier'] },
      {
        ...ofAlpha(),
        operation: 'memberByExternalId',
        memberId: 'm-alpha',
        fields: ['firstName', 'points'],
      },
    ]);
  });

  test('enrolling and ending, whatever is selected', async () => {
    const query =
      'mutation ($email: String!) { enrollMember(input: { email: $email }) { created } }';
    const email = 'new@example.com';
    const [enrolled, ...others] = await linesOf({ query, variables: { email } });
    expect([enrolled, others]).toEqual([
      { ...ofAlpha(), operation: 'enrollMember', memberId: expect.any(String), fields: [] },
      [],
    ]);
    const memberId = enrolled?.memberId;
    const end = 'mutation ($memberId: ID!) { endEnrollment(memberId: $memberId) { __typename } }';
    const ended = { operation: 'endEnrollment', memberId, fields: ['__typename'] };
    expect(await linesOf({ query: end, variables: { memberId } })).toEqual([
      { ...ofAlpha(), ...ended },
    ]);
    // Repeated, it names the member again.
    expect(await linesOf({ query: end, variables: { memberId } })).toEqual([
      { ...ofAlpha(), ...ended },
    ]);
    expect(await linesOf({ query: end, variables: { memberId: 'm-beta' } })).toEqual([]);
  });

  test('recording: the members of activities that the partner may know, whatever is selected', async () => {
    const query = `mutation ($activities: [ActivityInput!]!) { recordActivities(activities: $activities) { outcome } }`;
    const activities = ['m-both', 'm-beta', 'm-ended', 'm-both', 'm-unknown'].map(
      (memberId, index) => ({
        activityId: `audited-${index}`,
        memberId,
        points: 1,
        occurredAt: '2026-01-01T00:00:00Z',
      }),
    );
    const sent = { query, variables: { activities } };
    expect(await linesOf(sent)).toEqual(
      ['m-both', 'm-ended'].map((memberId) => ({
        ...ofAlpha(),
        operation: 'recordActivities',
        memberId,
        fields: ['outcome'],
      })),
    );
    const { body } = await service.send(sent);
    expect(JSON.stringify(body)).not.toContain('memberId');
  });

  test('exchanging a link, and a profile that is read with a token that a partner holds', async () => {
    await service.send({
      query: 'mutation { requestMagicLink(email: "both@example.com") { accepted } }',
    });
    await until(() => service.mail().length > 0);
    const token = /token=(?:3D)?(ml_[\w-]{43})/.exec(service.mail().at(-1) ?? '')?.[1];
    const exchange =
      'mutation ($token: String!) { exchangeMagicLink(token: $token) { expiresAt } }';
    expect(await linesOf({ query: exchange, variables: { token } })).toEqual([
      { ...ofAlpha(), operation: 'exchangeMagicLink', memberId: 'm-both', fields: ['expiresAt'] },
    ]);
    const query = '{ memberProfile(id: "m-both") { firstName partnerStandings { points } } }';
    const heldToken = await service.provider.issue('m-both', { azp: 'beta' });
    const { keyId: _, ...caller } = ofAlpha();
    expect(await linesOf({ query, token: heldToken })).toEqual([
      {
        ...caller,
        requestId: `audited-${count}`,
        partner: 'beta',
        operation: 'memberProfile',
        memberId: 'm-both',
        fields: ['firstName', 'partnerStandings.points'],
      },
    ]);
    // Members who read their own profile are nobody's business.
    expect(await linesOf({ query, token: await service.provider.issue('m-both') })).toEqual([]);
  });

  test('a member that a tool of /mcp shows', async () => {
    const key = await addKey(service.stores.keys, 'alpha', 'sandbox', { endpoint: 'mcp' });
    const body = JSON.stringify(toolCall('member_standing', { memberId: 'm-both' }));
    const shown = await linesOf({ path: '/mcp', key: '', headers: { 'x-api-key': key }, body });
    expect(shown).toMatchObject([{ partner: 'alpha', memberId: 'm-both' }]);
    expect(shown[0]?.keyId).not.toBe(alphaKeyId);
  });

  test('what is refused or introspects shows nobody', async () => {
    expect(
      await linesOf({ query: '{ memberByEmail(email: "both@example.com") { nothing } }' }),
    ).toEqual([]);
    expect(await linesOf({ query: '{ __schema { queryType { name } } }' })).toEqual([]);
    const query = '{ memberByEmail(email: "both@example.com") { email } }';
    expect(await linesOf({ query, key: 'pk_test_wrong' })).toEqual([]);
    expect(JSON.stringify(lines())).not.toMatch(/example\.com|Heron/);
  });
});
