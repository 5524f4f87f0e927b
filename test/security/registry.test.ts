// The registry over HTTP: what a team may do with its token, and what nobody may.
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openGraphStore } from '@partner-loyalty/gateway';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { withSubgraph } from '../../extensions/registry/src/publish/assessment.ts';
import { temporaryFolder } from '../support/folder.ts';
import { type PlainSubgraph, startSubgraph } from '../support/graphs/graph.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { type Env, loyalty, loyaltyJson } from '../support/service/loyalty.ts';
import { until } from '../support/until.ts';

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9",
  import: ["@key", "@override", "@tag"])`;
const schema = (field: string) => `${LINK}
type PartnerMemberRead @key(fields: "memberId") {
  memberId: ID!
  ${field}
}
`;
const SPA = schema('spa: String @tag(name: "partner")');
const OFFERS = schema('offers: String @tag(name: "partner")');
const MORE_OFFERS = OFFERS.replace('offers:', 'more: String @tag(name: "partner")\n  offers:');
/** Takes the field of another team. */
const TAKING = OFFERS.replace(
  'offers:',
  'spa: String @override(from: "spa") @tag(name: "partner")\n  offers:',
);
const SECRETS = { OFFERS_SECRET: 'the secret of offers', SPA_SECRET: 'the secret of the spa' };

const folder = temporaryFolder();
const auditLog = join(folder.path, 'audit.log');
const file = (name: string, sdl: string) => {
  const path = join(folder.path, `${name}.graphql`);
  writeFileSync(path, sdl);
  return path;
};
const files = {
  spa: file('spa', SPA),
  offers: file('offers', OFFERS),
  more: file('more', MORE_OFFERS),
  taking: file('taking', TAKING),
};

let service: InProcessService;
let spa: PlainSubgraph;
let offers: PlainSubgraph;
let moved: PlainSubgraph;
/** The operator's. */
let store: Env;

beforeAll(async () => {
  service = await startInProcess({
    env: { ...SECRETS, AUDIT_LOG: auditLog, TRUSTED_PROXIES: '127.0.0.1' },
  });
  store = { ...SECRETS, DATA_DIR: service.dataDir, AUDIT_LOG: auditLog };
  spa = await startSubgraph(SPA);
  moved = await startSubgraph(OFFERS);
  offers = await startSubgraph(TAKING.replace('spa:', 'more: String\n spa:'));
});
afterAll(async () => {
  await service.close();
  for (const each of [spa, offers, moved]) each.close();
  folder.remove();
});

type Issued = { tokenId: string; token: string; subgraph: string; owner: string };

/** Another token each time, since each has a limit. */
async function issue(subgraph: string, owner = `${subgraph}-team`): Promise<Issued> {
  const create = ['supergraph', 'token', 'create', subgraph, '--owner', owner];
  const [issued] = await loyaltyJson(store, ...create);
  return issued as Issued;
}

const envOf = (token: string): Env => ({
  LOYALTY_REGISTRY: service.url,
  LOYALTY_SUBGRAPH_TOKEN: token,
});
const operator = (...args: string[]) => loyaltyJson(store, 'supergraph', ...args);

async function as(token: string | Issued, ...args: string[]) {
  const text = typeof token === 'string' ? token : token.token;
  return loyaltyJson(envOf(text), 'supergraph', ...args);
}

async function refused(token: string | Issued, ...args: string[]): Promise<string> {
  const text = typeof token === 'string' ? token : token.token;
  const { code, stderr } = await loyalty(envOf(text), 'supergraph', ...args);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^loyalty: .*\n$/s) });
  return stderr;
}

const newest = async () => {
  const [version] = await operator('list');
  return version;
};

const audited = () =>
  until(async () => {
    const lines = readFileSync(auditLog, 'utf8').trim().split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  });

function post(operation: string, token: string | undefined, body: unknown, headers = {}) {
  const authorization = token === undefined ? undefined : { authorization: `Bearer ${token}` };
  return fetch(`${service.url}/registry/${operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...authorization, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const publishSpa = (token: Issued, ...more: string[]) =>
  as(token, 'publish', 'spa', files.spa, '--url', spa.url, ...more);
const publishOffers = (token: Issued, path = files.offers, ...more: string[]) =>
  as(token, 'publish', 'offers', path, '--url', offers.url, ...more);

test('a token is printed once, with what it is for', async () => {
  const { token, ...rest } = (await issue('offers', 'Offers Team')) as Issued & {
    expiresAt: string;
  };
  expect(token).toMatch(/^st_[\w-]{43}$/);
  expect(rest).toEqual({
    tokenId: expect.any(String),
    subgraph: 'offers',
    owner: 'Offers Team',
    expiresAt: expect.any(String),
  });
  const { stdout } = await loyalty(store, 'supergraph', 'token', 'list', '--json');
  expect(stdout).toContain(rest.tokenId);
  expect(stdout).not.toContain(token);
  const long = ['supergraph', 'token', 'create', 'x', '--owner', 'y', '--expires', '367d'];
  expect((await loyalty(store, ...long)).stderr).toContain('--expires must be at most 366d');
});

test('a token says whose it is, and only where it is sent is it of use', async () => {
  const { token, ...rest } = await issue('offers', 'Offers Team');
  const { stdout } = await loyalty(envOf(token), 'supergraph', 'whoami', '--json');
  expect(JSON.parse(stdout)).toEqual(rest);
  const alone = { LOYALTY_SUBGRAPH_TOKEN: token, DATA_DIR: join(folder.path, 'none') };
  for (const args of [['whoami'], ['list'], ['fetch', 'offers'], ['publish', 'x', files.spa]])
    expect(await loyalty(alone, 'supergraph', ...args)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^loyalty: .*set LOYALTY_REGISTRY.*\n$/),
    });
  expect(existsSync(join(folder.path, 'none'))).toBe(false);
});

test('a team publishes its subgraph, and the versions and the audit log say who did', async () => {
  const token = await issue('spa');
  const about = ['--commit', '4f0c1ab', '--message', 'the spa opens'];
  expect(await publishSpa(token, ...about)).toMatchObject([
    { version: 1, change: 'publish spa', breaking: 0, dangerous: 0, safe: 1 },
  ]);
  const { tokenId, owner } = token;
  const by = { subgraph: 'spa', owner, tokenId, commit: '4f0c1ab', message: 'the spa opens' };
  const versions = await as(token, 'list');
  expect(versions).toEqual([
    {
      version: 1,
      publishedAt: expect.any(String),
      change: 'publish spa',
      ...by,
      breaking: 0,
      dangerous: 0,
      safe: 1,
    },
  ]);
  expect(versions).toEqual(await operator('list'));
  expect(await publishSpa(token)).toEqual([{ version: 1, unchanged: true }]);
  await until(async () => {
    const query = '{ __type(name: "PartnerMemberRead") { fields { name } } }';
    return (await service.send({ query })).text.includes('"spa"');
  });
  const published = await until(async () => {
    const lines = (await audited()).filter(({ operation }) => operation === 'supergraph.publish');
    return lines.length > 0 && lines;
  });
  expect(published).toEqual([
    {
      time: expect.any(String),
      operation: 'supergraph.publish',
      owner,
      tokenId,
      subgraph: 'spa',
      target: 'publish spa',
      version: 1,
    },
  ]);
});

test('the token of one team changes no other subgraph, nor the whole graph', async () => {
  const token = await issue('spa');
  for (const args of [
    ['check', 'offers', files.offers],
    ['publish', 'offers', files.offers, '--url', spa.url],
    ['publish', 'members', files.spa],
    ['remove', 'members'],
    ['rollback', 'standings'],
  ])
    expect(await refused(token, ...args)).toMatch(
      /the token in LOYALTY_SUBGRAPH_TOKEN is for spa, not for (offers|members|standings)/,
    );
  expect(await refused(token, 'rollback')).toContain('supergraph rollback spa');
  expect(await refused(token, 'rollback', '0')).toContain('supergraph rollback spa');
  for (const args of [
    ['publish', 'spa', files.spa],
    ['remove', 'spa'],
    ['rollback', 'spa'],
  ])
    expect(await refused(token, ...args, '--force')).toContain('--force is for operators');
  expect(await newest()).toMatchObject({ version: 1 });
});

test('a revoked, an unknown and no token are refused alike; a rotated one works on', async () => {
  const [revoked, former] = [await issue('spa'), await issue('spa')];
  await operator('token', 'revoke', revoked.tokenId);
  const [next] = await operator('token', 'rotate', former.tokenId);
  for (const token of [former.token, String(next?.token)])
    expect(await as(token, 'list')).toHaveLength(1);
  expect(await refused(revoked, 'list')).toContain('LOYALTY_SUBGRAPH_TOKEN');
  for (const token of [revoked.token, 'st_unknown', undefined]) {
    const response = await post('list', token, {});
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    const errors = [{ message: 'the token is missing or not valid' }];
    expect(await response.json()).toMatchObject({ errors });
  }
});

test('guesses at tokens: 60 of an address are answered, then 429; who has one is not locked out', async () => {
  const token = await issue('spa');
  const from = { 'x-forwarded-for': '198.51.100.77' };
  const statuses: number[] = [];
  for (let n = 0; n < 65; n += 1)
    statuses.push((await post('publish', `st_${String(n).padStart(43, 'x')}`, {}, from)).status);
  expect(statuses).toEqual([...Array(60).fill(401), ...Array(5).fill(429)]);
  expect((await post('list', token.token, {}, from)).status).toBe(200);
});

test('of many changes of a token at once, 10 a minute are served, and others of the team read on', async () => {
  const token = await issue('nothing-yet');
  const name = 'nothing-yet';
  const changes = [
    ['rollback', { name }],
    ['rotateSecret', { name }],
    ['approve', { proposalId: 'p-0' }],
  ] as const;
  const sent = await Promise.all(
    Array.from({ length: 14 }, (_, n) => {
      const [operation, body] = changes[n % 3] ?? changes[0];
      return post(operation, token.token, body);
    }),
  );
  const statuses = sent.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(10).fill(200), ...Array(4).fill(429)]);
  const limited = sent.find(({ status }) => status === 429);
  const retryAfter = Number(limited?.headers.get('retry-after'));
  expect(retryAfter).toBeGreaterThan(0);
  expect(await limited?.json()).toMatchObject({ errors: [{ extensions: { retryAfter } }] });
  expect(await refused(token, 'check', name, files.spa)).toMatch(/try again in \d+ s/);
  expect(await as(token, 'list')).toHaveLength(1);
});

test('of many reads of a token at once, 60 a minute are served, whatever their path, and changes count apart', async () => {
  const { token } = await issue('spa');
  const paths = ['show', 'list', 'pending', 'whoami', 'unknown'];
  const sent = await Promise.all(
    Array.from({ length: 64 }, (_, n) => post(paths[n % paths.length] ?? '', token, {})),
  );
  expect(sent.filter(({ status }) => status === 429)).toHaveLength(4);
  expect((await post('rollback', token, { name: 'nothing-yet' })).status).toBe(200);
});

test('no token is made for a name whose variables are another subgraph’s', async () => {
  await issue('twin-eu');
  const twin = ['supergraph', 'token', 'create', 'twin_eu', '--owner', 'others'];
  expect((await loyalty(store, ...twin)).stderr).toContain('TWIN_EU_URL belongs to twin-eu');
});

test('tokens that are made, rotated and revoked have lines in the audit log', async () => {
  const { tokenId } = await issue('audited');
  const [next] = await operator('token', 'rotate', tokenId);
  await operator('token', 'revoke', String(next?.tokenId));
  const lines = (await audited()).filter(({ subgraph }) => subgraph === 'audited');
  expect(lines.map(({ operation, target }) => [operation, target])).toEqual([
    ['supergraph.token.create', tokenId],
    ['supergraph.token.rotate', next?.tokenId],
    ['supergraph.token.revoke', next?.tokenId],
  ]);
});

test('a body of 9 MiB and a schema of over 4 MiB are refused', async () => {
  const token = await issue('spa');
  const announced = request(`${service.url}/registry/publish`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': String(9 * 1_048_576),
      authorization: `Bearer ${token.token}`,
    },
  });
  announced.on('error', () => {});
  announced.flushHeaders();
  const [response] = await once(announced, 'response');
  announced.destroy();
  expect(response.statusCode).toBe(413);
  const large = file('large', `${SPA}#${'x'.repeat(4 * 1_048_576)}`);
  expect(await refused(token, 'check', 'spa', large)).toContain('sdl is larger than 4 MiB');
});

test.each<[string, number, string, unknown]>([
  ['a path that is none', 404, 'constructor', {}],
  ['a path with a name in it', 404, 'publish%2flist', {}],
  ['no JSON', 400, 'list', '{'],
  ['a list', 400, 'list', []],
  ['an unknown property', 400, 'show', { url: 'x' }],
  ['a version that is none', 400, 'show', { version: -1 }],
  ['a name of the prototype', 400, 'remove', { name: '__proto__' }],
  ['a name that is a path', 400, 'remove', { name: '../spa' }],
  ['a name in two lines', 400, 'remove', { name: 'spa\nmembers' }],
  ['a long name', 400, 'remove', { name: 'x'.repeat(64) }],
  ['a name that is no text', 400, 'rollback', { name: { $gt: '' } }],
  [
    'a URL with a password',
    400,
    'check',
    { name: 'spa', sdl: SPA, file: 'f', url: 'http://a:b@spa.example/' },
  ],
  ['a file in two lines', 400, 'check', { name: 'spa', sdl: SPA, file: 'a\nb' }],
  [
    'a message with an escape',
    400,
    'publish',
    { name: 'spa', sdl: SPA, file: 'f', message: '\u001b[2J' },
  ],
])('%s is refused with %i', async (_what, status, operation, body) => {
  const response = await post(operation, (await issue('spa')).token, body);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ errors: [{ message: expect.any(String) }] });
});

test('what is not a POST of JSON is refused', async () => {
  const { token } = await issue('spa');
  const headers = { authorization: `Bearer ${token}` };
  const get = await fetch(`${service.url}/registry/list`, { headers });
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  expect((await post('list', token, '{}', { 'content-type': 'text/plain' })).status).toBe(415);
  expect((await fetch(`${service.url}/registry/list`)).status).toBe(401);
});

describe('of two teams', () => {
  let team: Issued;
  beforeEach(async () => {
    team = await issue('offers');
  });

  test('neither sees where the other’s subgraph is', async () => {
    expect(await publishOffers(team)).toMatchObject([{ version: 2 }]);
    const shown = await loyalty(envOf(team.token), 'supergraph', 'show', '--json');
    const asText = await loyalty(envOf(team.token), 'supergraph', 'show');
    for (const { stdout } of [shown, asText]) {
      expect(stdout).toContain(offers.url);
      expect(stdout).not.toContain(new URL(spa.url).host);
      expect(stdout).not.toMatch(/localhost|:401[12]\b/);
    }
    expect((await loyalty(store, 'supergraph', 'show')).stdout).toContain(spa.url);
  });

  test('what one takes of the other’s waits for the other, and is approved for that content alone', async () => {
    const publish = ['publish', 'offers', files.taking];
    expect(await refused(team, 'check', 'offers', files.taking)).toMatch(
      /needs approval: .*spa.* by offers instead of spa/,
    );
    expect(await operator('list', '--pending')).toEqual([]);
    const message = await refused(team, ...publish);
    const [, proposalId = ''] = /loyalty supergraph approve (p-[0-9a-f]+)/.exec(message) ?? [];
    const owner = await issue('spa');
    expect(await as(owner, 'list', '--pending')).toMatchObject([
      { proposalId, subgraph: 'offers', owner: 'offers-team', expiresAt: expect.any(String) },
    ]);
    for (const one of [team, await issue('other')]) await refused(one, 'approve', proposalId);
    expect(await as(owner, 'approve', proposalId)).toMatchObject([{ proposalId, approved: true }]);
    // Replayed with other content: not even a comment may differ.
    const changed = file('changed', `${TAKING}# and a comment\n`);
    expect(await refused(team, 'publish', 'offers', changed)).toContain('needs approval');
    expect(await as(team, ...publish)).toMatchObject([{ change: 'publish offers' }]);
    expect(await as(team, 'rollback', 'offers')).toMatchObject([{ change: 'rollback offers' }]);
    const lines = (await audited()).filter((line) => line.proposalId === proposalId);
    expect(lines.map((line) => [line.operation, line.owner])).toEqual([
      ['supergraph.propose', 'offers-team'],
      ['supergraph.approve', 'spa-team'],
    ]);
  });

  test('a subgraph that is removed and published elsewhere has moved, too', async () => {
    await publishOffers(team);
    await as(team, 'remove', 'offers');
    const elsewhere = ['publish', 'offers', files.offers, '--url', moved.url];
    const message = await refused(team, ...elsewhere);
    expect(message).toContain(`called at ${new URL(moved.url).origin} instead of`);
    // Without an address, it is back where it was.
    await as(team, 'check', 'offers', files.offers);
    expect(await as(team, 'publish', 'offers', files.offers)).toMatchObject([
      { change: 'publish offers' },
    ]);
    const [shown] = await as(team, 'show');
    expect(shown?.subgraphs).toContainEqual(expect.objectContaining({ url: offers.url }));
  });

  test('who approves a part of what moves elsewhere does not learn where to', async () => {
    const publish = ['publish', 'offers', files.taking, '--url', moved.url];
    const [, proposalId = ''] = /(p-[0-9a-f]+)/.exec(await refused(team, ...publish)) ?? [];
    const { token } = await issue('spa');
    const approved = await loyalty(envOf(token), 'supergraph', 'approve', proposalId);
    expect(approved.stderr).toContain('still to be approved by an operator: offers would be at');
    expect(approved.stderr + approved.stdout).not.toMatch(/127\.0\.0\.1|localhost/);
  });
});

test('a graph beyond the limits that was published before is served, and others publish beside it', async () => {
  const long = 'x'.repeat(70_000);
  const sdl = `# \u202e\n${SPA.replace('spa:', `"${long}"\n  spa:`)}`;
  const [team, other] = [await issue('spa'), await issue('offers')];
  await publishSpa(team);
  // Published by a version without limits.
  const graphs = await openGraphStore(readSettings(store, 'all'));
  const version = (await graphs.latest()) + 1;
  const before = await graphs.version(version - 1);
  const entry = before?.subgraphs.find(({ name }) => name === 'spa');
  if (before === undefined || entry === undefined) throw new Error('nothing is published');
  const content = withSubgraph(before, entry, { sdl, file: 'spa.graphql' });
  const published = { publishedAt: new Date(), change: 'publish spa', changes: [] };
  expect(await graphs.append({ ...content, ...published, version })).toBe(true);
  await graphs.close();
  const described = async () => {
    const query = '{ __type(name: "PartnerMemberRead") { fields { name description } } }';
    return (await service.send({ query })).text.includes(long);
  };
  await until(described);
  const next = file('long', `${sdl}\nscalar Room`);
  const publish = ['supergraph', 'publish', 'spa', next, '--url', spa.url];
  expect(await loyalty(envOf(team.token), ...publish)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /long.graphql:1:1: a comment must not contain .*have 70000 bytes, and may have 65536/s,
    ),
  });
  const [beside] = await publishOffers(other, files.more);
  expect(beside).toMatchObject({ version: version + 1 });
  expect(await described()).toBe(true);
  await publishSpa(team);
  await until(async () => !(await described()));
  await as(team, 'rollback', 'spa');
  await until(described);
});

test.each([
  [
    'http to another machine',
    'http://loyalty.example',
    /must be an https URL, or http on the loop/,
  ],
  ['a URL with the token in it', 'https://st_x@loyalty.example', /must not contain a user name/],
  ['nothing there', 'http://127.0.0.1:9', /the registry at http:\/\/127.0.0.1:9 cannot be reached/],
])('--registry: %s', async (_what, registry, message) => {
  const env = { LOYALTY_SUBGRAPH_TOKEN: 'st_x' };
  const { code, stderr } = await loyalty(env, 'supergraph', 'list', '--registry', registry);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) });
});

test('the token goes to the registry alone, as a bearer, and follows no redirect', async () => {
  const asked: string[] = [];
  const server = createServer((incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url} ${incoming.headers.authorization}`);
    outgoing.writeHead(307, { location: '/elsewhere' }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { LOYALTY_REGISTRY: `http://127.0.0.1:${port}/`, LOYALTY_SUBGRAPH_TOKEN: 'st_x' };
  expect((await loyalty(env, 'supergraph', 'list')).stderr).toMatch(
    /answers with status 307: is it the base URL of the service\?/,
  );
  const { LOYALTY_SUBGRAPH_TOKEN: _, ...without } = env;
  expect((await loyalty(without, 'supergraph', 'list')).stderr).toContain(
    'LOYALTY_SUBGRAPH_TOKEN must be set',
  );
  expect(asked).toEqual(['POST /registry/list Bearer st_x']);
  server.close();
});
