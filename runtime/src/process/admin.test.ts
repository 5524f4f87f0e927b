// Health and metrics, as a load balancer and a scraper see them.
import { EventEmitter, once } from 'node:events';
import { withFakeTimeouts } from '../../../test/support/clock.ts';
import { createLog } from '../observe/log.ts';
import { type Admin, serveAdmin } from './admin.ts';

const opened: Admin[] = [];
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

test('/readyz answers 200 if its dependencies are ready', async () => {
  expect(await status('/readyz', {})).toBe(200);
});

test('/readyz answers 503 if a dependency is not ready, throws or takes too long', async () => {
  expect(await status('/readyz', { ready: () => Promise.reject(new Error('down')) })).toBe(503);
  const thrown = () => {
    throw new Error('down');
  };
  expect(await status('/readyz', { ready: thrown })).toBe(503);
  await withFakeTimeouts(async (passTime) => {
    const checks = new EventEmitter();
    const hang = () => new Promise<void>(() => checks.emit('ready'));
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

type Parts = { ready?: () => Promise<void>; draining?: () => boolean };

async function call(
  path: string,
  { ready = async () => {}, draining = () => false }: Parts,
  method = 'GET',
): Promise<Response> {
  const admin = await serveAdmin({
    port: 0,
    host: '127.0.0.1',
    ready,
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
