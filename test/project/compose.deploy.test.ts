// The Redis of docker-compose.yml, started by the command that stands there.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/servers/process.ts';
import { until } from '../support/until.ts';

type Service = { command: string[]; healthcheck: { test: string[] } };

const FILE = join(import.meta.dirname, '../../docker-compose.yml');
const { services }: { services: { redis: Service } } = parse(readFileSync(FILE, 'utf8'), {
  merge: true,
});

/** A command of the file as compose runs it, but on another port. */
function onPort(command: string[], port: string): [string, string[]] {
  const [program = '', ...args] = command.map((word) =>
    word
      .replaceAll('$$', '$')
      .replace('redis-server -', `redis-server - --port ${port}`)
      .replace('redis-cli', `redis-cli -p ${port}`),
  );
  return [program, args];
}

test('Redis answers only to its password, and does not start without one', async () => {
  const { command, healthcheck } = services.redis;
  const folder = temporaryFolder();
  const port = `${await freePort()}`;
  const options = (password: string) => ({
    cwd: folder.path,
    env: { PATH: process.env.PATH, REDISCLI_AUTH: password },
  });
  const start = onPort(command, port);
  const check = onPort(healthcheck.test.slice(1), port);
  const refused = spawnSync(...start, { ...options(''), encoding: 'utf8' });
  expect(refused.status).not.toBe(0);
  expect(refused.stderr).toContain('the password of Redis is not set');

  const redis = spawn(...start, options('secret'));
  const ended = once(redis, 'exit');
  const isHealthy = (password: string) => spawnSync(...check, options(password)).status === 0;
  try {
    await until(() => isHealthy('secret'));
    expect([isHealthy(''), isHealthy('another')]).toEqual([false, false]);
  } finally {
    redis.kill();
    await ended;
    folder.remove();
  }
});
