// How several workers end: with their primary, without it, and if they cannot be replaced.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { startDeployed } from '../support/service/deployed.ts';
import {
  ANSWER,
  beginRequest,
  isReady,
  isRunning,
  send,
  workersOf,
  workersStateOf,
} from '../support/service/workers.ts';
import { until } from '../support/until.ts';

test('SIGTERM to the primary: every worker finishes its requests, and all end with 0', async () => {
  const service = await startDeployed('one process', { WORKERS: '2' });
  const { gateway } = service.stack;
  const workers = workersOf(gateway);
  // A terminal sends SIGINT to all processes; the workers leave it to the primary.
  for (const pid of workers) process.kill(pid, 'SIGINT');
  const held = [
    await beginRequest(service),
    await beginRequest(service),
    await beginRequest(service),
    await beginRequest(service),
  ];
  const code = gateway.stop();
  await until(async () => !(await isReady(gateway)));
  expect((await fetch(`${gateway.adminUrl}/livez`)).status).toBe(200);
  await until(() =>
    send({ url: gateway.url, key: service.keys.alpha }).then(
      () => false,
      (error) => error.code === 'ECONNREFUSED',
    ),
  );
  for (const { end } of held) expect(await end()).toContain(ANSWER);
  expect(await code).toBe(0);
  expect(workers).toHaveLength(2);
  expect(workers.filter(isRunning)).toEqual([]);
  expect(gateway.output()).not.toMatch(/"level":"(warn|error|fatal)"/);
  await service.close();
});

test('a second signal ends the primary and its workers at once', async () => {
  const service = await startDeployed('one process', { WORKERS: '2' });
  const { gateway } = service.stack;
  const workers = workersOf(gateway);
  const { socket } = await beginRequest(service);
  process.kill(gateway.pid, 'SIGTERM');
  await until(async () => !(await isReady(gateway)));
  process.kill(gateway.pid, 'SIGINT');
  await gateway.ended;
  await until(() => !workers.some(isRunning));
  expect(await gateway.stop()).toBe(1);
  socket.destroy();
  await service.close();
});

test('if the primary is killed, the workers finish their requests and end', async () => {
  const service = await startDeployed('one process', { WORKERS: '2' });
  const { gateway } = service.stack;
  const workers = workersOf(gateway);
  const held = [await beginRequest(service), await beginRequest(service)];
  process.kill(gateway.pid, 'SIGKILL');
  await until(() => !isRunning(gateway.pid));
  for (const { end } of held) expect(await end()).toContain(ANSWER);
  await until(() => !workers.some(isRunning));
  await service.close();
});

test('if workers cannot be replaced, the others go on; after the last one, the primary ends with 1', async () => {
  const service = await startDeployed('one process', { WORKERS: '2' });
  const { gateway } = service.stack;
  const folder = service.stack.env.DATA_DIR ?? '';
  const [first = 0, second = 0] = workersOf(gateway);
  renameSync(folder, `${folder}-away`);
  writeFileSync(folder, 'no folder');
  try {
    process.kill(first, 'SIGKILL');
    await until(() => /ENOTDIR|EEXIST/.test(gateway.output()));
    expect(await isReady(gateway)).toBe(true);
    expect(await workersStateOf(gateway)).toBe('degraded');
    expect(await send({ url: gateway.url, key: service.keys.alpha })).toBe(`200 ${ANSWER}`);
    process.kill(second, 'SIGKILL');
    await gateway.ended;
    expect(gateway.output()).toContain('no worker can be started');
    expect(await gateway.stop()).toBe(1);
  } finally {
    rmSync(folder);
    renameSync(`${folder}-away`, folder);
    await service.close();
  }
});
