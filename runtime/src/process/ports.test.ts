// The ports of a process that starts: bound first, and serving once all is open.
import { createLog } from '../observe/log.ts';
import { createMetrics } from '../observe/metrics.ts';
import { readSettings } from '../settings/settings.ts';
import { bindPorts } from './ports.ts';

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
    return [path, status, headers.get('retry-after')];
  };
  const paths = ['/livez', '/readyz', '/metrics', '/other'];
  const all = async () => [
    ...(await Promise.all(paths.map((path) => ask(adminPort, path)))),
    await ask(port, '/'),
    await ask(port, '/graphql'),
  ];
  expect(await all()).toEqual([
    ['/livez', 200, null],
    ['/readyz', 503, '1'],
    ['/metrics', 503, '1'],
    ['/other', 503, '1'],
    ['/', 503, '1'],
    ['/graphql', 503, '1'],
  ]);
  expect(ports).toEqual([]);
  const ready = async () => ({ ok: true, dependencies: {} });
  await bound.serve({ handle: () => ({ status: 204, headers: {}, body: '' }), ready });
  expect(ports).toEqual([port, adminPort]);
  expect(await all()).toEqual([
    ['/livez', 200, null],
    ['/readyz', 200, null],
    ['/metrics', 200, null],
    ['/other', 404, null],
    ['/', 204, null],
    ['/graphql', 204, null],
  ]);
});
