// A service that is told to stop says so first, and serves on until load balancers have noticed.
import { type Stack, startStack } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

let stack: Stack;

beforeEach(async () => {
  stack = await startStack('one process', { DRAIN_SECONDS: '5' });
});
afterEach(() => stack.close());

const statusOf = async (url: string) =>
  (await fetch(url, { headers: { connection: 'close' } })).status;

test('after SIGTERM, readiness is 503 at once and new connections are served for DRAIN_SECONDS', async () => {
  const { url, adminUrl, pid, stop } = stack.gateway;
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
  expect(await stop()).toBe(0);
});

test('SIGHUP does not stop it', async () => {
  const { url, adminUrl, pid } = stack.gateway;
  process.kill(pid, 'SIGHUP');
  expect(await statusOf(`${url}/nowhere`)).toBe(404);
  expect(await statusOf(`${adminUrl}/readyz`)).toBe(200);
});
