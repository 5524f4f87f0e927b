// `loyalty doctor` looks at what the service needs, and changes nothing.
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openKeyStore } from '@partner-loyalty/gateway';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { MongoClient } from 'mongodb';
import { type Folder, temporaryFolder } from '../../../test/support/folder.ts';
import { freshMongodbUrl, redisUrl } from '../../../test/support/servers/databases.ts';
import { startMailServer } from '../../../test/support/servers/mailserver.ts';
import {
  type Env,
  loyalty,
  loyaltyJson,
  spawnLoyalty,
} from '../../../test/support/service/loyalty.ts';

const SECRET = 'a secret of this test';

let folder: Folder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** What it says, by check. */
async function examine(env: Env) {
  const { code, stdout, stderr } = await loyalty(env, 'doctor', '--json');
  const rows = stdout.trim().split('\n');
  const found = Object.fromEntries(
    rows.map((row) => {
      const { check, state, found } = JSON.parse(row);
      return [check, `${state}: ${found}`];
    }),
  );
  return { code, stderr, found };
}

test.each(['lmdb', 'mongodb'])(
  'on %s, it makes no store, and reads those there are',
  async (engine) => {
    const database = engine === 'mongodb' ? freshMongodbUrl() : undefined;
    const env: Env = {
      DATA_DIR: `${folder.path}/data`,
      ...(database && { MONGODB_URL: database.url }),
    };
    const before = await examine(env);
    expect(before).toMatchObject({ code: 0, stderr: '' });
    expect(before.found.stores).toBe('ok: none yet: the first start makes them');
    expect(existsSync(env.DATA_DIR ?? '')).toBe(false);
    if (database) {
      const client = await new MongoClient(database.url).connect();
      expect(await client.db().listCollections().toArray()).toEqual([]);
      await client.close();
    }
    await loyaltyJson(env, 'partners', 'create', 'inn', '--name', 'Inn');
    // The store is open as in a service, and the command runs in another process.
    const store = await openKeyStore(readSettings(env, 'all'));
    const { code, stdout } = await spawnLoyalty(env, 'doctor').ran;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^stores +ok .*keys/m)]);
    await store.close();
    expect((await examine({ ...env, ENVIRONMENT: 'production' })).found.stores).toMatch(
      /^failed: the \w+ store belongs to the sandbox environment/,
    );
    await database?.drop();
  },
);

test('with everything down, each line says what to do, and none has a secret', async () => {
  const { code, stderr, found } = await examine({
    DATA_DIR: '/proc/none',
    MONGODB_URL: 'mongodb://u:hidden@127.0.0.1:1/x',
    REDIS_URL: 'redis://:hidden@127.0.0.1:1',
    SMTP_URL: 'smtp://u:hidden@127.0.0.1:1',
    MEMBERS_URL: 'http://127.0.0.1:1',
    SUBGRAPH_SECRET: 'hidden hidden hidden',
    LOGLEVEL: 'info',
  });
  expect([code, stderr]).toEqual([1, 'loyalty: 5 of 8 checks failed\n']);
  expect(found).toMatchObject({
    settings: 'ok: sandbox; LOGLEVEL is not read: set LOG_LEVEL',
    stores: expect.stringMatching(
      /^failed: .*ECONNREFUSED.*: start MongoDB, or correct MONGODB_URL/,
    ),
    disk: expect.stringMatching(/^failed: .*ENOENT.*: make room, or correct DATA_DIR/),
    redis: expect.stringMatching(/^failed: it does not respond .*: start Redis, or correct/),
    mail: expect.stringMatching(/^failed: .*: start the mail server, or correct SMTP_URL/),
    'subgraph members': expect.stringMatching(
      /^failed: .*connection, ECONNREFUSED.*: start it, or/,
    ),
    'subgraph standings': 'ok: it serves its schema',
  });
  expect(JSON.stringify(found)).not.toContain('hidden');
  expect((await loyalty({ PORT: 'x' }, 'doctor')).stderr).toMatch(/: PORT must be an integer/);
});

test('Redis that counts, and a mail server that is asked for nothing', async () => {
  const server = await startMailServer();
  const env = { DATA_DIR: folder.path, REDIS_URL: redisUrl(), SMTP_URL: server.url };
  const { code, found } = await examine(env);
  expect(code).toBe(0);
  expect([found.redis, found.mail]).toEqual(['ok: it counts', 'ok: the mail server answers']);
  expect([server.mails, readdirSync(folder.path)]).toEqual([[], []]);
  await server.down();
});

test.each([
  [401, 0, {}, 'refused: the secret may differ, 401'],
  [401, 60_000, {}, 'refused: the clocks differ, 401'],
  [503, 0, { 'partner-loyalty-protocol': '9' }, 'the versions are too far apart: '],
])(
  'a subgraph that refuses with %d, %d ms away, %j: %s',
  async (status, ahead, headers, reason) => {
    const server = createServer((_, response) => {
      response.sendDate = false;
      const date = new Date(Date.now() + ahead).toUTCString();
      response.writeHead(status, { date, ...headers }).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    // Cast: a server that listens on a port has such an address.
    const { port } = server.address() as AddressInfo;
    const MEMBERS_URL = `http://127.0.0.1:${port}`;
    const { found } = await examine({
      DATA_DIR: folder.path,
      MEMBERS_URL,
      SUBGRAPH_SECRET: SECRET,
    });
    expect(found['subgraph members']).toMatch(/^failed: members at .*: start it, or correct its/);
    expect(found['subgraph members']).toContain(`does not answer {__typename} (${reason}`);
    server.closeAllConnections();
    server.close();
  },
);
