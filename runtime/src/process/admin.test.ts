// Health and metrics, as a load balancer and a scraper see them.

import { EventEmitter, once } from 'node:events';
import { withFakeTimeouts } from '../../../test/support/clock.ts';
import type { HttpServer } from '../http/server.ts';
import { createLog } from '../observe/log.ts';
import { serveAdmin } from './admin.ts';
import type { Readiness } from './readiness.ts';

const opened: HttpServer[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((admin) => admin.close()));
});

test('/livez answers 200 while the process runs, ready or not', async () => {
  expect(
    await status('/livez', {
      ready: () => Promise.reject(new Error('down')),
      draining: () => true,
    }),
  ).toBe(200);
});

test('/readyz answers 200 if the process is ready, and names its dependencies', async () => {
  const readiness: Readiness = { ok: true, dependencies: { keys: 'up', members: 'down' } };
  const response = await call('/readyz', { ready: async () => readiness });
  expect([response.status, await response.json()]).toEqual([200, readiness]);
});

test('/readyz answers 503 if the process is not ready, or if that fails or takes too long', async () => {
  const readiness: Readiness = { ok: false, dependencies: { store: 'down' } };
  const response = await call('/readyz', { ready: async () => readiness });
  expect([response.status, await response.json()]).toEqual([503, readiness]);
  expect(await status('/readyz', { ready: () => Promise.reject(new Error('down')) })).toBe(503);
  const thrown = () => {
    throw new Error('down');
  };
  expect(await status('/readyz', { ready: thrown })).toBe(503);
  await withFakeTimeouts(async (passTime) => {
    const checks = new EventEmitter();
    const hang = () => new Promise<Readiness>(() => checks.emit('ready'));
    const [response] = [status('/readyz', { ready: hang }), await once(checks, 'ready')];
    await passTime(2_000);
    expect(await response).toBe(503);
  });
});

test('/readyz answers 503 during a drain', async () => {
  expect(await status('/readyz', { draining: () => true })).toBe(503);
});

test('/metrics answers with the metrics in text format', async () => {
  const response = await call('/metrics', {});
  expect([response.status, await response.text(), response.headers.get('content-type')]).toEqual([
    200,
    'a 1\n',
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
});

test('404 for other paths and 405 for other methods', async () => {
  expect(await status('/graphql', {})).toBe(404);
  expect(await status('/livez', {}, 'POST')).toBe(405);
});

type Parts = { ready?: () => Promise<Readiness>; draining?: () => boolean };

async function call(
  path: string,
  { ready = async () => ({ ok: true, dependencies: {} }), draining = () => false }: Parts,
  method = 'GET',
): Promise<Response> {
  const admin = await serveAdmin({
    port: 0,
    host: '127.0.0.1',
    ready: () => ready,
    draining,
    metrics: { text: async () => 'a 1\n' },
    log: createLog('silent'),
  });
  opened.push(admin);
  return fetch(`http://127.0.0.1:${admin.port}${path}`, { method });
}

async function status(path: string, parts: Parts, method?: string): Promise<number> {
  return (await call(path, parts, method)).status;
}
