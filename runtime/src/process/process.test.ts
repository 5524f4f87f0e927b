// Processes.

import { EventEmitter, once } from 'node:events';
import { withFakeTimeouts } from '../../../test/support/clock.ts';
import type { HttpServer } from '../http/server.ts';
import { createLog } from '../observe/log.ts';
import { createMetrics } from '../observe/metrics.ts';
import { readSettings } from '../settings/settings.ts';
import { serveAdmin } from './admin.ts';
import { bindPorts } from './ports.ts';
import type { Readiness } from './readiness.ts';

// Health and metrics, as a load balancer and a scraper see them.
describe('admin', () => {
  const opened: HttpServer[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((admin) => admin.close()));
  });

  test('/livez answers 200 while the process runs, ready or not', async () => {
    const ready = () => Promise.reject(new Error('down'));
    expect(await status('/livez', { ready, draining: () => true })).toBe(200);
  });

  test.each<[number, Readiness, boolean]>([
    [200, { ok: true, dependencies: { keys: 'up', members: 'down' } }, false],
    [503, { ok: false, dependencies: { store: 'down' } }, false],
    [503, { ok: true, dependencies: {} }, true],
  ])('/readyz answers %i with %j, during a drain: %s', async (expected, readiness, isDraining) => {
    const parts = { ready: async () => readiness, draining: () => isDraining };
    const response = await call('/readyz', parts);
    expect(response.status).toBe(expected);
    if (!isDraining) expect(await response.json()).toEqual(readiness);
  });

  test('/readyz answers 503 if what it asks fails or takes too long', async () => {
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
});

// The ports of a process that starts: bound first, and serving once all is open.
describe('ports', () => {
  const closing: [name: string, close: () => Promise<unknown>][] = [];
  const lifecycle = {
    opened: (name: string, close: () => Promise<unknown>) => void closing.push([name, close]),
    draining: () => false,
  };
  afterEach(async () => {
    for (const [, close] of closing.splice(0).reverse()) await close();
  });

  test('until the process serves, /livez answers and everything else is 503', async () => {
    const settings = readSettings({ PORT: '0', ADMIN_PORT: '0' }, 'all');
    const ports: number[] = [];
    const log = { ...createLog('silent') };
    log.info = ({ port, adminPort }) => void ports.push(Number(port), Number(adminPort));
    const metrics = createMetrics();
    const bound = await bindPorts(settings, { isPublic: true, lifecycle, metrics, log });
    const { port, adminPort } = bound;
    const ask = async (at: number, path: string) => {
      const { status, headers } = await fetch(`http://127.0.0.1:${at}${path}`);
      return `${status} ${headers.get('retry-after')}`;
    };
    const all = async () => [
      ...(await Promise.all(
        ['/livez', '/readyz', '/metrics', '/other'].map((path) => ask(adminPort, path)),
      )),
      await ask(port, '/graphql'),
    ];
    expect(await all()).toEqual(['200 null', ...Array(4).fill('503 1')]);
    expect(ports).toEqual([]);
    const ready = async () => ({ ok: true, dependencies: {} });
    await bound.serve({ handle: () => ({ status: 204, headers: {}, body: '' }), ready });
    expect(ports).toEqual([port, adminPort]);
    expect(await all()).toEqual([...Array(3).fill('200 null'), '404 null', '204 null']);
  });
});
