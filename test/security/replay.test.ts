// Signed requests to a subgraph that someone has recorded and sends again.
import { createSigner, encodeScope, WIRE } from '@partner-loyalty/runtime';
import { type Stack, startStack } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

type Recorded = { headers: Record<string, string>; body: string };

let stack: Stack;
beforeAll(async () => {
  stack = await startStack('three processes', { WORKERS: '2' });
});
afterAll(() => stack.close());

/** A request as the gateway sends it, for the subgraph of this name. */
function record(subgraph: string): Recorded {
  const sign = createSigner(subgraph, stack.env.SUBGRAPH_SECRET ?? '');
  const body = '{"query":"{ __typename }"}';
  const scope = encodeScope({ kind: 'service' });
  const signed = sign({ method: 'POST', path: WIRE.path, scope, requestId: 'recorded', body });
  return { headers: { ...signed, connection: 'close' }, body };
}

/** Sends a request on a connection of its own, which the primary hands to any worker. */
async function send(name: 'members' | 'standings', request: Recorded): Promise<number> {
  const response = await fetch(`${stack[name]?.url}${WIRE.path}`, { method: 'POST', ...request });
  await response.text();
  return response.status;
}

const refused = (count: number) => Array<number>(count).fill(401);

test('a recorded request is good once over all workers, also when it is sent to all of them at once', async () => {
  for (let round = 0; round < 10; round++) {
    const request = record('members');
    const statuses = await Promise.all(Array.from({ length: 8 }, () => send('members', request)));
    expect(statuses.sort()).toEqual([200, ...refused(7)]);
  }
});

test('a recorded request is not good again at the worker that replaces one', async () => {
  const request = record('members');
  expect(await send('members', request)).toBe(200);
  const listening = () => [
    ...(stack.members?.output() ?? '').matchAll(/"pid":(\d+).*"a worker listens"/g),
  ];
  const before = listening().map(([, pid]) => Number(pid));
  expect(before).toHaveLength(2);
  for (const [killed, pid] of before.entries()) {
    process.kill(pid, 'SIGKILL');
    await until(() => listening().length === 3 + killed);
    for (let round = 0; round < 6; round++) expect(await send('members', request)).toBe(401);
  }
});

test('a request recorded on its way to one subgraph is not good at another', async () => {
  expect(await send('standings', record('members'))).toBe(401);
  expect(await send('standings', record('standings'))).toBe(200);
});
