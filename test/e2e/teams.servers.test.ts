// Teams change their subgraphs through the registry, under load on two gateways: no request fails.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/folder.ts';
import { type Data, type PlainSubgraph, startSubgraph } from '../support/graphs/graph.ts';
import { startBalancer } from '../support/servers/balancer.ts';
import { EXAMPLES, startExample } from '../support/servers/examples.ts';
import { type ApiResponse, type Client, createClient } from '../support/service/client.ts';
import { emptyStores } from '../support/service/emptystores.ts';
import { type Env, loyalty, loyaltyJson } from '../support/service/loyalty.ts';
import { type Running, type Stack, startStack } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9",
  import: ["@key", "@override", "@tag"])`;
const TAG = '@tag(name: "partner")';

/** The subgraph of the team that the others meet. */
const SPA = `${LINK}
type PartnerMemberRead @key(fields: "memberId") {
  memberId: ID!
  spa: String ${TAG}
  par: String ${TAG}
  pool: String ${TAG}
  robe: String ${TAG}
  massage: Treatment ${TAG}
}
type Treatment {
  name: String ${TAG}
}
`;
const OFFERS = readFileSync(join(EXAMPLES, 'offers-apollo/schema.graphql'), 'utf8');
/** Takes a field of the spa. */
const WELLNESS = `${LINK}
type PartnerMemberRead @key(fields: "memberId") {
  memberId: ID!
  pool: String @override(from: "spa") ${TAG}
}
`;
/** Takes a field of the spa, and its type. */
const BEAUTY = `${LINK}
type PartnerMemberRead @key(fields: "memberId") {
  memberId: ID!
  massage: Treatment @override(from: "spa") ${TAG}
}
type Treatment {
  name: String @override(from: "spa") ${TAG}
}
`;

/** A team with its token, and its subgraph as it runs and as it was published last. */
type Team = { name: string; env: Env; running: PlainSubgraph; sdl: string };
type Load = { stop(): Promise<string[]> };

describe('on MongoDB', () => {
  const folder = temporaryFolder();
  const opened: (() => unknown)[] = [folder.remove];
  const loads: Load[] = [];
  let stack: Stack;
  let gateways: Running[];
  let clients: Client[];
  let spa: Team;
  let files = 0;

  beforeAll(async () => {
    const { env, remove } = emptyStores('mongodb');
    opened.push(remove);
    stack = await startStack('one process', { ...env, RATE_LIMIT_BUDGET: '1000000' });
    opened.push(stack.close);
    gateways = [stack.gateway, await stack.addGateway()];
    await loyaltyJson(stack.env, 'partners', 'create', 'demo-hotels', '--name', 'Demo Hotels');
    const [{ key } = {}] = await loyaltyJson(stack.env, 'keys', 'create', 'demo-hotels');
    clients = gateways.map(({ url }) => createClient(url, String(key)));
    const query =
      'mutation { enrollMember(input: { email: "a@example.com" }) { member { memberId } } }';
    expect((await clients[0]?.({ query }))?.status).toBe(200);
    spa = await formTeam('spa', 'spa-team', SPA);
    await publish(spa, SPA);
  });
  // A token has 10 changes and checks a minute.
  beforeEach(async () => {
    spa.env = await tokenFor('spa', 'spa-team');
  });
  afterAll(async () => {
    for (let last = opened.pop(); last !== undefined; last = opened.pop()) await last();
  });
  // Left by a test that failed.
  afterEach(async () => {
    for (const load of loads.splice(0)) await load.stop();
  });

  /** A token from an operator; it goes through the second gateway. */
  async function tokenFor(name: string, owner: string): Promise<Env> {
    const create = ['token', 'create', name, '--owner', owner];
    const [{ token } = {}] = await loyaltyJson(stack.env, 'supergraph', ...create);
    return { LOYALTY_REGISTRY: gateways[1]?.url ?? '', LOYALTY_SUBGRAPH_TOKEN: String(token) };
  }

  /** A team with a subgraph that runs, and has a secret. */
  async function formTeam(name: string, owner: string, sdl: string): Promise<Team> {
    const running = await startSubgraph(sdl);
    opened.push(running.close);
    const team = { name, env: await tokenFor(name, owner), running, sdl };
    await as(team, 'secret', 'rotate', name);
    deploy(team, sdl);
    return team;
  }

  const as = (team: Team, ...args: string[]) => loyaltyJson(team.env, 'supergraph', ...args);

  /** The subgraph answers each field of a member with its own name. */
  function deploy({ name, running }: Team, sdl: string): void {
    const member: Data = Object.fromEntries(
      [...sdl.matchAll(/^ {2}(\w+): (\w+)/gm)].flatMap(([, field = '', type]) =>
        field === 'memberId' ? [] : [[field, type === 'String' ? name : { name }]],
      ),
    );
    running.serve(sdl, undefined, { PartnerMemberRead: [member] });
  }

  function publishArgs({ name, running }: Team, sdl: string): string[] {
    return ['publish', name, written(sdl), '--url', running.url];
  }

  /** A file with the schema. */
  function written(sdl: string): string {
    files += 1;
    const path = join(folder.path, `${files}.graphql`);
    writeFileSync(path, sdl);
    return path;
  }

  async function publish(team: Team, sdl: string): Promise<void> {
    await served(await as(team, ...publishArgs(team, sdl)));
    team.sdl = sdl;
  }

  /** What a change prints: resolves when both gateways serve it. */
  async function served(printed: Record<string, unknown>[]): Promise<void> {
    const version = printed.find((row) => 'publishedAt' in row)?.version;
    const line = new RegExp(`"version":${version},"msg":"a new graph serves"`);
    await Promise.all(gateways.map(({ wrote }) => wrote(line)));
  }

  async function refused(team: Team, ...args: string[]): Promise<string> {
    const { code, stderr } = await loyalty(team.env, 'supergraph', ...args);
    expect({ code, stderr }).toMatchObject({ code: 1 });
    return stderr;
  }

  const ask = (fields: string, gateway = 0): Promise<ApiResponse> => {
    const query = `{ memberByEmail(email: "a@example.com") { tier ${fields} } }`;
    const client = clients[gateway];
    if (client === undefined) throw new Error('there are two gateways');
    return client({ query });
  };

  /** Asks both gateways over and over. `stop` resolves with the responses that failed. */
  function startLoad(fields: string): Load {
    const failed: string[] = [];
    let asked = 0;
    let isStopped = false;
    const caller = async (gateway: number) => {
      while (!isStopped) {
        const { status, text } = await ask(fields, gateway);
        asked += 1;
        if (status !== 200 || /"errors"|null/.test(text)) failed.push(text);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    const callers = Promise.all([0, 1].map(caller));
    const load = {
      async stop() {
        isStopped = true;
        await callers;
        expect(asked).toBeGreaterThan(2);
        return failed;
      },
    };
    loads.push(load);
    return load;
  }

  test('a field comes and goes: deployed, then published, and the other way around', async () => {
    const load = startLoad('spa');
    const before = spa.sdl;
    const after = before.replace('  spa:', `  sauna: String ${TAG}\n  spa:`);
    expect(await refused(spa, ...publishArgs(spa, after))).toContain(
      'lacks PartnerMemberRead.sauna',
    );
    deploy(spa, after);
    await publish(spa, after);
    await publish(spa, before);
    deploy(spa, before);
    expect((await ask('sauna')).status).toBe(400);
    expect(await load.stop()).toEqual([]);
  });

  test('a secret is changed while its subgraph restarts, and an operator ends the old one', async () => {
    const env = await tokenFor('offers', 'offers-team');
    const rotate = async () => {
      const [{ secret } = {}] = await loyaltyJson(env, 'supergraph', 'secret', 'rotate', 'offers');
      return String(secret);
    };
    const start = async (...secrets: string[]) => {
      const [current = '', old = ''] = secrets;
      const settings = { OFFERS_SECRET: current, ...(old && { OFFERS_SECRET_OLD: old }) };
      const example = await startExample('offers-apollo', settings);
      opened.push(example.stop);
      return example.url;
    };
    const balancer = await startBalancer();
    opened.push(balancer.close);
    const old = await rotate();
    const former = await start(old);
    balancer.to(former);
    // An operator would have to approve what the other part reads of members.
    const part = OFFERS.replace(/^type MemberProfile .*?^}\n/ms, '');
    const publishing = ['publish', 'offers', written(part), '--url', balancer.url, '--batching'];
    await served(await loyaltyJson(env, 'supergraph', ...publishing));
    const load = startLoad('offers { title }');

    const secret = await rotate();
    const known = afterSeconds(5);
    const both = await start(secret, old);
    const next = await start(secret);
    await known();
    // Beside one that has the old one alone, a process has to know both.
    for (const urls of [[former, both], [both], [next]]) {
      balancer.to(...urls);
      const before = urls.map(balancer.accepted);
      await until(() => urls.every((url, n) => balancer.accepted(url) > Number(before[n]) + 20));
    }
    const dropped = ['secret', 'rotate', 'offers', '--drop-old'];
    expect(await loyaltyJson(stack.env, 'supergraph', ...dropped)).toEqual([
      { subgraph: 'offers', dropped: true },
    ]);
    await afterSeconds(5)();
    expect(await load.stop()).toEqual([]);

    // Nothing signs with the old one any more.
    balancer.to(former);
    await until(async () => (await ask('offers { title }')).text.includes('SERVICE_UNAVAILABLE'));
  });

  test('a field is renamed: both names serve, and the old one stays while it is in use', async () => {
    const oldName = startLoad('par');
    const both = spa.sdl.replace(
      /^ {2}par: .*$/m,
      `$& @deprecated(reason: "Ask for handicap.")\n  handicap: String ${TAG}`,
    );
    deploy(spa, both);
    await publish(spa, both);
    const newName = startLoad('handicap');
    const renamed = publishArgs(spa, both.replace(/^ {2}par: .*\n/m, ''));
    expect(await refused(spa, ...renamed)).toMatch(
      /in use.*PartnerMemberRead\.par|PartnerMemberRead\.par.*is kept until/,
    );
    expect([...(await oldName.stop()), ...(await newName.stop())]).toEqual([]);
  });

  test('a field is deprecated: callers see until when it serves, and a rollback ends that', async () => {
    const load = startLoad('robe');
    const before = spa.sdl;
    const after = before.replace(/^ {2}robe: .*$/m, '$& @deprecated(reason: "Bring yours.")');
    deploy(spa, after);
    await publish(spa, after);
    const headersOf = async () => {
      const { headers } = await ask('robe', 1);
      return [headers.has('deprecation'), headers.has('sunset')];
    };
    expect(await headersOf()).toEqual([true, true]);
    await served(await as(spa, 'rollback', 'spa'));
    spa.sdl = before;
    expect(await headersOf()).toEqual([false, false]);
    expect(await load.stop()).toEqual([]);
  });

  test('a field moves to another team, which its owner approves', async () => {
    const load = startLoad('pool');
    const wellness = await formTeam('wellness', 'wellness-team', WELLNESS);
    const message = await refused(wellness, ...publishArgs(wellness, WELLNESS));
    const [, proposalId = ''] = /loyalty supergraph approve (p-\w+)/.exec(message) ?? [];
    expect((await ask('pool')).text).toContain('"pool":"spa"');
    await as(spa, 'approve', proposalId);
    await publish(wellness, WELLNESS);
    expect((await ask('pool')).text).toContain('"pool":"wellness"');
    const less = spa.sdl.replace(/^ {2}pool: .*\n/m, '');
    await publish(spa, less);
    deploy(spa, less);
    expect(await load.stop()).toEqual([]);
  });

  test('a subgraph is split by its own team, which asks nobody', async () => {
    const load = startLoad('massage { name }');
    const beauty = await formTeam('beauty', 'spa-team', BEAUTY);
    await publish(beauty, BEAUTY);
    const less = spa.sdl
      .replace(/^ {2}massage: .*\n/m, '')
      .replace(/^type Treatment .*?^}\n/ms, '');
    await publish(spa, less);
    deploy(spa, less);
    expect((await ask('massage { name }')).text).toContain('"massage":{"name":"beauty"}');
    expect(await load.stop()).toEqual([]);
  });
});

/** Gateways know a secret within 5 seconds. The function resolves so long after this was called. */
function afterSeconds(seconds: number): () => Promise<unknown> {
  const began = performance.now();
  return () => until(() => performance.now() - began > seconds * 1_000);
}
