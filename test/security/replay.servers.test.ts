// Signed requests that someone recorded and sends again, or signs with the secret of another.
import { encodeCaller } from '@partner-loyalty/runtime/transport/caller.ts';
import { createSigner } from '@partner-loyalty/runtime/transport/signature/signer.ts';
import { WIRE } from '@partner-loyalty/runtime/transport/wire.ts';
import { type Stack, startStack } from '../support/service/stack.ts';

type Recorded = { headers: Record<string, string>; body: string };

const STANDINGS_SECRET = 'the secret of standings alone';
const OFFERS_SECRET = 'the secret of a third subgraph';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack('three processes', { STANDINGS_SECRET, OFFERS_SECRET });
});
afterAll(() => stack.close());

/** A request as the gateway sends it, for the subgraph of this name. */
function record(subgraph: 'members' | 'standings', secret = secretOf(subgraph)): Recorded {
  const sign = createSigner(subgraph, secret);
  const body = '{"query":"{ __typename }"}';
  const caller = encodeCaller({ kind: 'service' });
  const signed = sign({ method: 'POST', path: WIRE.path, caller, requestId: 'recorded', body });
  return { headers: { ...signed, connection: 'close' }, body };
}

/** Members have no secret of their own, so theirs is the one that subgraphs share. */
function secretOf(subgraph: 'members' | 'standings'): string {
  return subgraph === 'standings' ? STANDINGS_SECRET : (stack.env.SUBGRAPH_SECRET ?? '');
}

/** Sends a request on a connection of its own. */
async function send(name: 'members' | 'standings', request: Recorded): Promise<number> {
  const response = await fetch(`${stack[name]?.url}${WIRE.path}`, { method: 'POST', ...request });
  await response.text();
  return response.status;
}

const refused = (count: number) => Array<number>(count).fill(401);

test('a recorded request is good once, also when it is sent many times at once', async () => {
  for (let round = 0; round < 10; round++) {
    const request = record('members');
    const statuses = await Promise.all(Array.from({ length: 8 }, () => send('members', request)));
    expect(statuses.sort()).toEqual([200, ...refused(7)]);
  }
});

test('a request recorded on its way to one subgraph is not good at another', async () => {
  expect(await send('standings', record('members'))).toBe(401);
  expect(await send('standings', record('standings'))).toBe(200);
});

test('the secret of one subgraph opens no other', async () => {
  const opened: string[] = [];
  for (const secret of [secretOf('members'), STANDINGS_SECRET, OFFERS_SECRET])
    for (const subgraph of ['members', 'standings'] as const)
      if ((await send(subgraph, record(subgraph, secret))) === 200) opened.push(subgraph);
  expect(opened).toEqual(['members', 'standings']);
});
