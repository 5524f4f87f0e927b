// A service that is told to stop says so first, and serves on until load balancers have noticed.
import { startStack } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

const statusOf = async (url: string) =>
  (await fetch(url, { headers: { connection: 'close' } })).status;

test('SIGHUP does not stop a process; after SIGTERM, readiness is 503 at once and new connections are served for DRAIN_SECONDS', async () => {
  const stack = await startStack('one process', { DRAIN_SECONDS: '5' });
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
  await stack.close();
});
