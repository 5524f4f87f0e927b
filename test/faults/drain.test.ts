// A service that is told to stop says so first, and serves on until load balancers have noticed.
import { type Stack, startStack } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

let stack: Stack;

async function start(workers: string): Promise<void> {
  stack = await startStack('one process', { DRAIN_SECONDS: '5', WORKERS: workers });
}
afterEach(() => stack.close());

const statusOf = async (url: string) =>
  (await fetch(url, { headers: { connection: 'close' } })).status;

test.each([
  ['one process', '1'],
  ['two workers', '2'],
])(
  'SIGHUP does not stop %s; after SIGTERM, readiness is 503 at once and new connections are served for DRAIN_SECONDS',
  async (_, workers) => {
    await start(workers);
    const { url, adminUrl, pid, ended, stop } = stack.gateway;
    process.kill(pid, 'SIGHUP');
    expect(await statusOf(`${url}/nowhere`)).toBe(404);
    expect(await statusOf(`${adminUrl}/readyz`)).toBe(200);
    process.kill(pid, 'SIGTERM');
    await until(async () => (await statusOf(`${adminUrl}/readyz`)) === 503);
    expect(await statusOf(`${url}/nowhere`)).toBe(404);
    await until(() =>
      fetch(url).then(
        () => false,
        () => true,
      ),
    );
    await ended; // stop() would be a second signal.
    expect(await stop()).toBe(0);
  },
);
