// Starts a MongoDB without data: mongod, or DocumentDB with the bridge that serves its protocol.
// DocumentDB is an engine on PostgreSQL 18 from Debian's release forky, which is installed once per
// machine, in a folder of its own.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { debianSystem } from '../debian.ts';
import { freePort, run, startProcess } from '../process.ts';

const BIN = '/usr/lib/postgresql/18/bin';
// The data live as long as the tests, so nothing protects them from a power cut. Statistics are
// gathered every second, so that reads of a collection use its indexes soon after a test filled it.
const SETTINGS = {
  shared_preload_libraries: 'pg_cron,pg_documentdb_core,pg_documentdb',
  'cron.database_name': 'postgres',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum_naptime: '1',
  autovacuum_analyze_threshold: '100',
  // The bridge opens up to 80, one of them for each open cursor.
  max_connections: '120',
  // If two inserts of one key deadlock, PostgreSQL notices after this time, 1 s by default.
  deadlock_timeout: '10ms',
};

/** Starts it on a free port of 127.0.0.1. `cacheMb` is the size of its cache in memory. */
export async function startDocumentDb(
  cacheMb = 128,
): Promise<{ url: string; stop(): Promise<void> }> {
  const root = await installDocumentDb();
  const folder = await mkdtemp(join(root, 'tmp', 'data-'));
  const inside = folder.slice(root.length);
  const asPostgres = ['--userspec=postgres:postgres', root];
  const settings = options({ ...SETTINGS, shared_buffers: `${cacheMb}MB` });
  await run('chroot', [root, 'chown', 'postgres:postgres', inside]);
  await run('chroot', [
    ...asPostgres,
    `${BIN}/initdb`,
    '-D',
    inside,
    '-A',
    'trust',
    '--no-sync',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
  ]);
  await run(
    'chroot',
    [...asPostgres, `${BIN}/postgres`, '--single', '-D', inside, ...settings, 'postgres'],
    'create extension documentdb cascade\n',
  );

  // A Unix socket needs no free port. The extension and its scheduler connect through it too.
  const places = {
    listen_addresses: '',
    unix_socket_directories: inside,
    'cron.host': inside,
    'documentdb.localhost_connection_string': `host=${inside}`,
  };
  const args = [...asPostgres, `${BIN}/postgres`, '-D', inside, ...settings, ...options(places)];
  const postgres = await startProcess({ command: 'chroot', args, signal: 'QUIT', folder });
  await postgres.wrote(/ready to accept connections/);
  const bridge = await startProcess({
    command: process.execPath,
    args: ['--import', 'tsx', join(import.meta.dirname, 'bridge.ts'), folder],
  });
  const [url] = await bridge.wrote(/^mongodb:\S+/m);
  return {
    url,
    async stop() {
      await bridge.stop();
      await postgres.stop();
    },
  };
}

const options = (settings: Record<string, string>) =>
  Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

/**
 * Resolves with the root folder of a Debian system that contains DocumentDB, which takes 700 MB and
 * half a minute to install. Change the name when the packages change.
 */
export function installDocumentDb(): Promise<string> {
  return debianSystem('documentdb-1', 'forky', 'apt', 'postgresql-18-documentdb');
}

/** Starts a replica set of one mongod without data on a free port. Needs mongod on PATH. */
export async function startMongod(): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'mongod-'));
  const server = await startProcess({
    command: 'mongod',
    args: [
      ...['--port', `${port}`, '--bind_ip', '127.0.0.1', '--nounixsocket'],
      ...['--dbpath', folder, '--replSet', 'tests'],
    ],
    folder,
  });
  await server.wrote(/Waiting for connections/i);
  const url = `mongodb://127.0.0.1:${port}`;
  const client = new MongoClient(url, { directConnection: true });
  const members = [{ _id: 0, host: `127.0.0.1:${port}` }];
  await client.db('admin').command({ replSetInitiate: { _id: 'tests', members } });
  await client.close();
  return { url, stop: async () => void (await server.stop()) };
}
