// Makes the data directory that the test beside this file starts on, and names empty tables.
//
//   node --import tsx test/format/make.ts
//
// Run it only before a first release: what is released stays, and every later version reads it.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openMembersStore } from '@partner-loyalty/members';
import { readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import { open } from 'lmdb';
import { temporaryFolder } from '../support/folder.ts';
import { startSubgraph } from '../support/graphs/graph.ts';
import { startMailServer } from '../support/servers/mailserver.ts';
import { createClient } from '../support/service/client.ts';
import { type Env, loyaltyJson } from '../support/service/loyalty.ts';
import { startService } from '../support/service/npmstart.ts';
import { until } from '../support/until.ts';
import { ACTIVITIES, MEMBERS, OFFERS, OFFERS_SECRET, PROGRAM } from './data.ts';

const folder = temporaryFolder();
const mailServer = await startMailServer();
const data = join(folder.path, 'data');
const env: Env = {
  DATA_DIR: data,
  OFFERS_SECRET,
  SMTP_URL: mailServer.url,
};
const run = (...args: string[]) => loyaltyJson(env, ...args);
const file = (name: string, content: string) => {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return path;
};
const lines = (all: readonly object[]) => all.map((one) => JSON.stringify(one)).join('\n');

await run('partners', 'create', 'inn', '--name', 'The Inn', '--program', file('p.json', PROGRAM));
await run('partners', 'create', 'spa', '--name', 'The Spa');
const scopes = ['--scopes', 'read,enroll,sign-in,ingest'];
const [inn] = await run('keys', 'create', 'inn', ...scopes);
const [spa] = await run('keys', 'create', 'spa', ...scopes);
await run('members', 'import', file('members.ndjson', lines(MEMBERS)));
await run('activities', 'import', file('activities.ndjson', lines(ACTIVITIES)));
await run('members', 'erase', 'm-erased');
await run('members', 'lock', 'locked@example.com');
const subgraph = await startSubgraph(OFFERS);
await run(
  'supergraph',
  'publish',
  'offers',
  file('o.graphql', OFFERS),
  '--url',
  subgraph.url,
  '--init',
);
subgraph.close();

const service = await startService(env, false);
const send = createClient(new URL(service.endpoint).origin, String(inn?.key));
const call = async (query: string, key = inn?.key) => {
  const { body, text } = await send({ query, key: String(key) });
  if (body.errors !== undefined || body.data === undefined) throw new Error(text);
};
await call('{ memberByEmail(email: "ada@example.com") { memberId tier points } }');
mailServer.refuse(550);
await call('mutation { requestMagicLink(email: "bob@example.com") { accepted } }');
await until(() => service.output().includes('an email was given up'));
// From here on, mail waits.
await mailServer.down();
await call('mutation { requestMagicLink(email: "ada@example.com") { accepted } }');
await call('mutation { inviteMember(input: { email: "new@example.com" }) { accepted } }');
const members = await openMembersStore(readSettings(env, 'all'));
// Stored when its mail is composed, and again at each attempt to send it.
await until(async () => (await members.invitations.select(() => true)).length > 0);
await members.close();
await call('mutation { endEnrollment(memberId: "m-ada") { memberId } }', spa?.key);
await call(`mutation { enrollMember(input: { email: "Grace@Example.com", externalId: "G-1" }) {
  created } }`);
await run('tokens', 'revoke', 'm-bob');
// Writes what was counted.
await service.stop();

process.stdout.write(`${lines(await run('verify'))}\n`);
for (const store of ['members', 'standings', 'graph', 'usage', 'keys']) await nameEmpty(store);
const files = readdirSync(data, { recursive: true, encoding: 'utf8' }).filter(
  (path) => statSync(join(data, path)).isFile() && !path.endsWith('lock.mdb'),
);
// Each file in base64, by its path.
const archive = files.map((path) => [path, readFileSync(join(data, path), 'base64')]);
writeFileSync(
  join(import.meta.dirname, 'data.json.gz'),
  gzipSync(JSON.stringify(Object.fromEntries(archive))),
);
writeFileSync(
  join(import.meta.dirname, 'keys.json'),
  `${JSON.stringify({ inn: inn?.key, spa: spa?.key }, null, 2)}\n`,
);
folder.remove();

/** Names the tables of a store that have no records. */
async function nameEmpty(store: string): Promise<void> {
  const root = open({ path: join(data, store), maxDbs: 256 });
  // Beside the tables, the root has values of its own.
  for (const name of [...root.getKeys()]) {
    if (root.get(name) !== undefined) continue;
    // Cast: the names of tables are strings.
    const table = root.openDB({ name: name as string });
    if (table.getCount() === 0) process.stdout.write(`${store}: ${String(name)} is empty\n`);
  }
  await root.close();
}
