// Publishing, checking and rolling back, through the command and with a subgraph over HTTP.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openGraphStore, readGraphFile } from '@partner-loyalty/gateway';
import type { RegistryTables } from '@partner-loyalty/gateway/graph/tables.ts';
import type { FieldUsage } from '@partner-loyalty/gateway/usage/usage.ts';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { openUsageStore } from '@partner-loyalty/usage/tables.ts';
import { temporaryFolder } from '../../../../test/support/folder.ts';
import { type PlainSubgraph, startSubgraph } from '../../../../test/support/graphs/graph.ts';
import { emptyStores } from '../../../../test/support/service/emptystores.ts';
import { type Env, loyalty, loyaltyJson } from '../../../../test/support/service/loyalty.ts';

const OFFERS = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@tag"])
  type PartnerMemberRead @key(fields: "memberId") {
    memberId: ID!
    offers: [Offer!]! @tag(name: "partner")
  }
  type Offer {
    title: String! @tag(name: "partner")
    ends: String @tag(name: "partner")
  }
`;
const WITHOUT_ENDS = OFFERS.replace('ends: String @tag(name: "partner")', '');
const SECRET = 'the secret of offers';

const folder = temporaryFolder();
const file = (name: string, sdl: string) => {
  const path = join(folder.path, name);
  writeFileSync(path, sdl);
  return path;
};
const offersFile = file('offers.graphql', OFFERS);
const smallerFile = file('smaller.graphql', WITHOUT_ENDS);
const membersFile = file(
  'members.graphql',
  `${readFileSync(join(import.meta.dirname, '../../../../subgraphs/members/schema.graphql'), 'utf8')}#\n`,
);
afterAll(folder.remove);

describe('on the embedded store', () => {
  let env: Env;
  let remove: () => unknown;
  let subgraph: PlainSubgraph;

  beforeAll(async () => {
    const place = emptyStores();
    remove = place.remove;
    env = { ...place.env, OFFERS_SECRET: SECRET };
    subgraph = await startSubgraph(OFFERS);
  });
  afterAll(async () => {
    subgraph.close();
    await remove();
  });
  beforeEach(() => subgraph.serve(OFFERS));

  const refused = async (...args: string[]) => {
    const { code, stderr } = await loyalty(env, 'supergraph', ...args);
    expect(code).toBe(1);
    return stderr;
  };
  const stored = async () => {
    const store = await openGraphStore(readSettings(env, 'all'));
    const latest = await store.version(await store.latest());
    await store.close();
    return latest;
  };
  const use = async (...coordinates: string[]) => {
    const store = await openUsageStore(readSettings(env, 'all'));
    const day = new Date().toISOString().slice(0, 10);
    const counted = (coordinate: string): FieldUsage[] => [
      { day, surface: 'partner', partnerId: 'acme', coordinate, count: 1_204 },
      { day, surface: 'partner', partnerId: 'blue', coordinate, count: 1 },
    ];
    await store.add({
      fields: coordinates.flatMap(counted),
      operations: [
        { day, surface: 'partner', partnerId: 'acme', operation: '{ending}', count: 1_204 },
      ],
    });
    await store.close();
  };

  test('nothing is published at first, and the committed graph is shown', async () => {
    const listed = await loyalty(env, 'supergraph', 'list');
    expect(listed).toMatchObject({ code: 0, stdout: '' });
    expect(listed.stderr).toContain('nothing is published');
    const { stdout } = await loyalty(env, 'supergraph', 'show');
    expect(stdout).toMatch(
      /^# version 0: the committed graph\n# gateway .*\n# members http:\S+ batching BAD_/,
    );
    expect(stdout).toContain('\nschema\n');
    expect(await refused('rollback')).toContain('nothing is published yet');
    expect(await refused('remove', 'offers')).toContain('there is no subgraph "offers"');
  });

  test('a store without a published graph may be the wrong one, so it takes --init', async () => {
    for (const verb of ['check', 'publish'])
      expect(await refused(verb, 'offers', offersFile)).toMatch(/if it is the right one .*--init/);
    expect(await stored()).toBeUndefined();
  });

  test('a check names changes and publishes nothing', async () => {
    const check = ['check', 'offers', offersFile, '--init'];
    const { code, stdout } = await loyalty(env, 'supergraph', ...check);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^partner surface: 2 safe\nlevel +coordinate +change\n/);
    expect(stdout).toMatch(/^safe +PartnerMemberRead\.offers +Field 'offers' was added/m);
    expect(stdout).toMatch(/^member surface: no changes\n/m);
    expect(await stored()).toBeUndefined();
  });

  test('a subgraph that is not ready to serve is not published', async () => {
    const publish = ['publish', 'offers', offersFile, '--init'];
    expect(await refused(...publish)).toContain(
      'offers needs a URL: give --url, or set OFFERS_URL',
    );
    const withUrl = [...publish, '--url', subgraph.url];
    for (const [secret, fault] of [
      ['', 'offers has no secret: make one with loyalty supergraph secret rotate offers,'],
      ['the shared secret', 'OFFERS_SECRET must differ from the secrets of other subgraphs'],
    ] as const) {
      const settings = { ...env, OFFERS_SECRET: secret, SUBGRAPH_SECRET: 'the shared secret' };
      const { code, stderr } = await loyalty(settings, 'supergraph', ...withUrl);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(fault) });
    }
    const nobody = ['--url', 'http://127.0.0.1:9/graphql'];
    expect(await refused(...publish, ...nobody)).toMatch(
      /does not answer \{__typename\} \(connection, ECONNREFUSED\)$/m,
    );
    subgraph.serve(WITHOUT_ENDS);
    expect(await refused(...withUrl)).toContain(`offers at ${subgraph.url} lacks Offer.ends`);
    expect(await stored()).toBeUndefined();
  });

  test('a subgraph is asked with the secret that the store has for it', async () => {
    const settings = readSettings(env, 'all');
    const withStore = async <T>(work: (table: RegistryTables['secrets']) => Promise<T>) => {
      const store = await openGraphStore(settings);
      const done = await work((await store.tables()).secrets);
      await store.close();
      return done;
    };
    const rotate = (...args: string[]) =>
      loyaltyJson(env, 'supergraph', 'secret', 'rotate', ...args);
    expect(await rotate('offers')).toEqual([
      { subgraph: 'offers', secret: expect.stringMatching(/^ss_/) },
    ]);
    subgraph.serve(WITHOUT_ENDS);
    const publish = ['publish', 'offers', offersFile, '--url', subgraph.url, '--init'];
    const { stderr } = await loyalty({ ...env, OFFERS_SECRET: '' }, 'supergraph', ...publish);
    expect(stderr).toContain('lacks Offer.ends');
    const row = await withStore(async (table) => table.get('offers'));
    expect(row?.secrets[0]?.acceptedAt).toBeDefined();
    expect(await refused('secret', 'rotate', 'offers', '--drop-old')).toContain(
      'has no old secret',
    );
    await rotate('offers');
    expect(await rotate('offers', '--drop-old')).toEqual([{ subgraph: 'offers', dropped: true }]);
    expect(await refused('secret', 'rotate', 'members')).toContain('is a setting');
    const production = { ENVIRONMENT: 'production', DATA_DIR: join(folder.path, 'production') };
    const keyless = await loyalty(production, 'supergraph', 'secret', 'rotate', 'offers');
    expect(keyless.stderr).toContain('KEY_ENCRYPTION_KEY must be set');
    await withStore((table) => table.remove('offers'));
  });

  test('a subgraph is published with its options, which stay until they are given anew', async () => {
    const publish = (...options: string[]) =>
      loyaltyJson(env, 'supergraph', 'publish', 'offers', offersFile, '--init', ...options);
    const entry = async () => (await stored())?.subgraphs.find(({ name }) => name === 'offers');
    subgraph.asked.length = 0;
    const given = ['--url', subgraph.url, '--batching', '--codes', 'OFFER_EXPIRED, OFFER_TAKEN'];
    const counted = { breaking: 0, dangerous: 0, safe: 2 };
    expect(await publish(...given)).toMatchObject([
      { version: 1, change: 'publish offers', ...counted },
    ]);
    expect(subgraph.asked).toEqual([
      'kind=service {__typename}',
      'kind=service {_service{sdl}}',
      'kind=batch 100 operations',
    ]);
    const codes = ['OFFER_EXPIRED', 'OFFER_TAKEN'];
    const published = { name: 'offers', url: subgraph.url, batching: true, codes };
    expect(await entry()).toEqual(published);
    expect((await stored())?.schemas.offers).toBe(OFFERS);
    expect(await publish()).toEqual([{ version: 1, unchanged: true }]);
    expect(await entry()).toEqual(published);
    await publish('--no-batching', '--codes', '');
    expect(await entry()).toEqual({ ...published, batching: false, codes: [] });
    expect(await loyaltyJson(env, 'supergraph', 'list')).toMatchObject([
      { version: 2, change: 'publish offers', subgraph: 'offers', breaking: 0, safe: 0 },
      { version: 1, safe: 2 },
    ]);
    const [shown] = await loyaltyJson(env, 'supergraph', 'show', '1');
    expect(shown).toMatchObject({ version: 1, change: 'publish offers' });
    expect(shown?.supergraph).toContain(subgraph.url);
    const { stdout } = await loyalty(env, 'supergraph', 'show', '2');
    const { subgraphs } = await readGraphFile(file('shown.graphql', stdout));
    expect(subgraphs.map(({ name, url }) => [name, url])).toContainEqual(['offers', subgraph.url]);
    expect(await refused('show', '9')).toContain('there is no version 9');
  });

  test('a subgraph that would be the identity provider in place of another one needs approval', async () => {
    const keys = `${OFFERS.replace('"@tag"', '"@tag", "@override"')}
      type Query { signingKeys: String! @override(from: "members") }`;
    subgraph.serve(keys);
    for (const options of [[], ['--force']])
      expect(await refused('publish', 'offers', file('keys.graphql', keys), ...options)).toMatch(
        /needs approval: .*offers would take over signingKeys .*\(approved by an operator\)/,
      );
    expect((await stored())?.version).toBe(2);
  });

  test('a subgraph that the gateways carry needs no URL', async () => {
    const { code, stdout } = await loyalty(env, 'supergraph', 'publish', 'members', membersFile);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^partner surface: no changes\n\nmember surface: no changes\n\nversion +3$/m,
    );
  });

  test('a breaking change that nobody uses fails a strict check only', async () => {
    const check = ['check', 'offers', smallerFile];
    expect(await loyalty(env, 'supergraph', ...check)).toMatchObject({ code: 0, stderr: '' });
    expect(await refused(...check, '--strict')).toContain('there are breaking changes: Offer.ends');
  });

  test('a breaking change that partners use fails a check, and is named with them', async () => {
    await use('Offer.ends', 'Offer.title');
    const check = ['check', 'offers', smallerFile];
    const { code, stdout, stderr } = await loyalty(env, 'supergraph', ...check);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^breaking +Offer\.ends +Field .* +acme 1,204 times, blue once$/m);
    expect(stderr).toBe(
      'loyalty: breaking changes are in use: Offer.ends (acme 1,204 times, blue once)\n',
    );
    const asJson = await loyalty(env, 'supergraph', ...check, '--json');
    // Notices follow.
    expect(JSON.parse(asJson.stdout.split('\n', 1)[0] ?? '')).toMatchObject({
      coordinate: 'Offer.ends',
      usedBy: [
        { partnerId: 'acme', count: 1_204 },
        { partnerId: 'blue', count: 1 },
      ],
    });
  });

  test('what is in use is published, removed and rolled back by force only', async () => {
    const breaks = /breaking changes are in use, and need --force: Offer\.ends \(acme 1,204 times/;
    expect(await refused('publish', 'offers', smallerFile)).toMatch(breaks);
    expect(await refused('rollback', '0')).toMatch(/need --force: .*Offer/);
    expect(await refused('remove', 'offers')).toMatch(/need --force: .*Offer/);
    expect((await stored())?.version).toBe(3);
    const step = async (...args: string[]) => {
      const [row] = await loyaltyJson(env, 'supergraph', ...args);
      return [row?.version, row?.change, row?.breaking];
    };
    const force = '--force';
    const forced = await step('publish', 'offers', smallerFile, force);
    expect(forced).toEqual([4, 'publish offers', 1]);
    expect(await step('rollback')).toEqual([5, 'rollback to 3', 0]);
    expect((await stored())?.schemas.offers).toBe(OFFERS);
    expect(await step('remove', 'offers', force)).toEqual([6, 'remove offers', expect.any(Number)]);
    expect((await stored())?.subgraphs.map(({ name }) => name)).toEqual([
      'gateway',
      'members',
      'standings',
    ]);
    expect(await step('rollback', '2')).toEqual([7, 'rollback to 2', 0]);
    expect(await refused('rollback', '7')).toContain('version 7 is the newest already');
    expect(await refused('rollback', '99')).toContain('there is no version 99');
    expect(await step('rollback', '0', force)).toEqual([8, 'rollback to 0', expect.any(Number)]);
  });

  test('two who publish at the same time both succeed, one upon the other', async () => {
    const publish = ['publish', 'offers', offersFile, '--url', subgraph.url];
    subgraph.meanwhile = async () => {
      subgraph.meanwhile = undefined;
      const store = await openGraphStore(readSettings(env, 'all'));
      const graph = await store.version(8);
      const schemas = { ...graph?.schemas, members: readFileSync(membersFile, 'utf8') };
      if (graph) await store.append({ ...graph, version: 9, change: 'publish members', schemas });
      await store.close();
    };
    const [published] = await loyaltyJson(env, 'supergraph', ...publish);
    expect(published).toMatchObject({ version: 10, change: 'publish offers' });
    expect((await stored())?.schemas).toMatchObject({
      offers: OFFERS,
      members: readFileSync(membersFile, 'utf8'),
    });
  });

  test('a subgraph moves by approval, not by force, and goes back by itself', async () => {
    const moved = await startSubgraph(OFFERS);
    const publish = ['publish', 'offers', offersFile, '--url', moved.url];
    const message = await refused(...publish, '--force');
    expect(message).toMatch(/needs approval: offers .*\(approved by an operator\)/);
    const pending = async () =>
      (await loyaltyJson(env, 'supergraph', 'list', '--pending')).filter(({ proposalId }) =>
        message.includes(`loyalty supergraph approve ${proposalId}, within 7 days`),
      );
    expect(await pending()).toMatchObject([{ subgraph: 'offers', needs: [{ losing: [] }] }]);
    const urls = async () =>
      (await stored())?.subgraphs.flatMap(({ name, url }) => (name === 'offers' ? url : []));
    await loyaltyJson(env, 'supergraph', ...publish, '--approve');
    expect(await urls()).toEqual([moved.url]);
    expect(await loyaltyJson(env, 'supergraph', 'rollback', 'offers')).toMatchObject([
      { version: 12, change: 'rollback offers' },
    ]);
    expect(await urls()).toEqual([subgraph.url]);
    expect(await pending()).toEqual([]);
    moved.close();
  });

  test('usage is told by partner, field and days', async () => {
    const usage = (...args: string[]) => loyaltyJson(env, 'usage', ...args);
    const acme = { surface: 'partner', partnerId: 'acme', count: 1_204 };
    const blue = { surface: 'partner', partnerId: 'blue', count: 1 };
    await use('Query.memberByEmail(email:)');
    expect(await usage('--field', 'Query.memberByEmail')).toEqual([
      { ...acme, field: 'Query.memberByEmail(email:)' },
      { ...blue, field: 'Query.memberByEmail(email:)' },
    ]);
    expect(await usage('--partner', 'blue', '--days', '1')).toEqual([
      { ...blue, field: 'Offer.ends' },
      { ...blue, field: 'Offer.title' },
      { ...blue, field: 'Query.memberByEmail(email:)' },
    ]);
    expect(await usage('--operations')).toEqual([{ ...acme, count: 2_408, operation: '{ending}' }]);
    expect(await loyalty(env, 'usage', '--partner', 'pub')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'no usage in the last 30 days\n',
    });
  });

  test('what names no subgraph, code, URL or field is refused', async () => {
    const publish = (...options: string[]) => ['publish', 'offers', offersFile, ...options];
    for (const [args, message] of [
      ...['redis', 'mongodb', 'sandbox', 'subgraph', 'id-token-jwks'].map(
        (name) => [['publish', name, offersFile], `the name must not be ${name}: `] as const,
      ),
      [['check', 'Offers', offersFile], 'the name must have 1 to 63'],
      [['check', 'offers', join(folder.path, 'none')], 'no such file'],
      [
        publish('--codes', 'OFFER_EXPIRED,RATE_LIMITED'),
        '--codes has "RATE_LIMITED", which must not',
      ],
      [publish('--codes', 'expired'), 'must have 1 to 64 capital letters'],
      [publish('--url', 'offers'), '--url must'],
    ] as const)
      expect(await refused(...args)).toContain(message);
    for (const [option, value] of [
      ['--field', 'offers'],
      ['--days', '61'],
    ] as const)
      expect((await loyalty(env, 'usage', option, value)).stderr).toContain(`${option} must`);
  });

  test('a version that no gateway can serve keeps nobody from publishing the next', async () => {
    const last = await stored();
    if (last === undefined) throw new Error('a version is published');
    const store = await openGraphStore(readSettings(env, 'all'));
    const broken = { ...last.schemas, offers: 'type Query {' };
    const supergraph = 'type Query { a: Int @deprecated';
    for (const version of [last.version + 1, last.version + 2])
      await store.append({ ...last, version, supergraph, schemas: broken, change: 'publish spa' });
    await store.close();
    const sdl = `${OFFERS} extend type Offer { starts: String @tag(name: "partner") }`;
    subgraph.serve(sdl);
    const next = file('next.graphql', sdl);
    expect(await loyalty(env, 'supergraph', 'check', 'offers', next)).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await loyalty(env, 'supergraph', 'publish', 'offers', next);
    expect([code, stderr]).toEqual([
      0,
      `no gateway can serve what is newer than version ${last.version}\n`,
    ]);
    expect(stdout).toContain(
      `publish spa (version ${last.version + 2}), publish spa (version ${last.version + 1})`,
    );
    const published = await stored();
    expect(published?.version).toBe(last.version + 3);
    expect(published?.supergraph).toContain('starts: String');
    expect(Object.keys(published?.schemas ?? {})).toEqual(Object.keys(last.schemas));
  });

  test('schemas that do not compose are refused in the words of the composer, with file and line', async () => {
    const wrong = file('wrong.graphql', OFFERS.replace('[Offer!]!', '[Ofer!]!'));
    const stderr = await refused('check', 'offers', wrong);
    expect(stderr).toMatch(/wrong\.graphql:\d+:\d+: .*Ofer/);
  });
});
