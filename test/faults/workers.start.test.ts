// Workers of every process of the service, and of `npm start` with its demo.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { temporaryFolder } from '../support/folder.ts';
import { startDeployed } from '../support/service/deployed.ts';
import { loyaltyJson } from '../support/service/loyalty.ts';
import { type Service, startService } from '../support/service/npmstart.ts';
import { addPartner } from '../support/service/testdata.ts';
import { ANSWER, isComplete, isRunning, send, workersOf } from '../support/service/workers.ts';
import { until } from '../support/until.ts';

test('gateway and subgraphs with two workers each survive the loss of one of each, with budgets in Redis', async () => {
  const service = await startDeployed('three processes on MongoDB and Redis', { WORKERS: '2' });
  const { gateway, members, standings } = service.stack;
  const all = [gateway, members, standings].filter((running) => running !== undefined);
  for (const running of all) expect(workersOf(running)).toHaveLength(2);
  const key = await addPartner(service.stack.stores.keys, { partnerId: 'fifty', budget: 50 });
  const responses = await Promise.all(
    Array.from({ length: 100 }, () => send({ url: gateway.url, key, query: '{ __typename }' })),
  );
  expect(responses.filter((response) => response.startsWith('200'))).toHaveLength(50);
  const victims = all.map((running) => workersOf(running)[0] ?? 0);
  for (const victim of victims) process.kill(victim, 'SIGKILL');
  await until(
    async () => !victims.some(isRunning) && (await Promise.all(all.map(isComplete))).every(Boolean),
  );
  for (let round = 0; round < 10; round++)
    expect(await send({ url: gateway.url, key: service.keys.alpha })).toBe(`200 ${ANSWER}`);
  await service.close();
});

describe('npm start', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  const services: Service[] = [];
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.kill()));
    folder.remove();
  });

  async function start(env: Record<string, string> = {}): Promise<Service> {
    const service = await startService({ DATA_DIR: folder.path, WORKERS: '2', ...env });
    services.push(service);
    return service;
  }

  test('fills the demo and prints the URL once, and its curl works; SIGTERM to npm ends everything with 0', async () => {
    const service = await start();
    await until(() => service.output().includes('"listening"'));
    const output = service.output();
    expect(output.match(/\/graphql\n/g)).toHaveLength(1);
    expect(output.match(/^ +\S+ +pk_test_\w{36}$/gm)).toHaveLength(3);
    const [curl = ''] = /^curl .*$/m.exec(output) ?? [];
    for (let round = 0; round < 4; round++)
      expect(JSON.parse(execFileSync('sh', ['-c', curl], { encoding: 'utf8' }))).toMatchObject({
        data: { memberByEmail: { memberId: 'demo-001', points: 5200 } },
      });
    expect(await loyaltyJson({ DATA_DIR: folder.path }, 'partners', 'list')).toHaveLength(3);
    expect(
      await loyaltyJson({ DATA_DIR: folder.path }, 'keys', 'list', 'demo-trains'),
    ).toHaveLength(1);
    expect(await service.stop('SIGTERM')).toBe(0);
    await expect(fetch(service.endpoint)).rejects.toThrow();
  });

  test('a signal during the start ends everything with 0', async () => {
    const service = await start(); // One worker listens, the other one is still starting.
    expect(await service.stop('SIGTERM')).toBe(0);
  });

  test('a port in use ends the start with a message and without a stack trace', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = Object(other.address());
    const why = await start({ PORT: `${port}` }).catch((error: Error) => error.message);
    other.close();
    expect(why).toContain(`EADDRINUSE`);
    expect(why).toContain('no worker can be started');
    expect(why).not.toMatch(/ at .*:\d+:\d+/);
  });

  test('invalid settings end the start before any worker starts', async () => {
    const why = await start({ PORT: 'many' }).catch((error: Error) => error.message);
    expect(why).toContain('PORT');
    expect(why).not.toContain('worker');
  });
});
