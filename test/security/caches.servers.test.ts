// Hundreds of different hostile documents leave a process with a small heap as it was.
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createHttpTransport } from '@partner-loyalty/runtime/transport/client.ts';
import { oneSecret } from '@partner-loyalty/runtime/transport/secrets.ts';
import { HEAVY, repeat } from '../support/cases/heavy.ts';
import { INSPECT, inspect } from '../support/servers/inspector.ts';
import type { Deployment, Running } from '../support/service/stack.ts';
import { startDeployed } from '../support/service/stack.ts';

const MEBIBYTE = 1024 * 1024;
/** The heap, and twice what fits: without a bound, a heap of 256 MB was full after about 250. */
const HEAP_MB = 128;
const DOCUMENTS = 240;
const AT_ONCE = 8;
const ENV = {
  NODE_OPTIONS: `--max-old-space-size=${HEAP_MB} ${INSPECT}`,
  RATE_LIMIT_BUDGET: '1000000',
};
/** A quarter of the heap limit, of which three semi-spaces of 16 are a part, and the code. */
const GROWTH = ((HEAP_MB + 3 * 16) / 4 + 16) * MEBIBYTE;

const kinds = Object.entries(HEAVY);

/** The document of a round: every other one is of the heaviest kind, the others of all in turn. */
function documentOf(round: number) {
  const heaviest = HEAVY['directives on fields'];
  const [, make] = round % 2 === 0 ? ['', heaviest] : (kinds[(round >> 1) % kinds.length] ?? []);
  if (make === undefined) throw new Error('there is a kind for each remainder');
  return make(round);
}

async function inRounds(count: number, send: (round: number) => Promise<unknown>): Promise<void> {
  for (let round = 0; round < count; round += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, each) => send(round + each)));
}

/** Runs `flood` and expects the heap of the process to stay within its bound. */
async function expectBounded(running: Running, flood: () => Promise<void>): Promise<void> {
  const inspector = await inspect(running);
  const before = await inspector.heapUsed();
  await flood();
  const grown = (await inspector.heapUsed()) - before;
  inspector.close();
  expect(grown / MEBIBYTE).toBeLessThan(GROWTH / MEBIBYTE);
}

const start = (deployment: Deployment) => startDeployed(deployment, ENV);

test('all in one survives 240 hostile documents of one partner with a heap of 128 MB', async () => {
  const service = await start('one process');
  try {
    await expectBounded(service.stack.gateway, () =>
      inRounds(DOCUMENTS, async (round) => {
        const document = documentOf(round);
        for (const request of [document, document]) {
          const { status, code } = await service.send(request);
          expect([status, code]).toEqual([200, undefined]);
        }
      }),
    );
    expect((await service.send({ query: '{ __typename }' })).status).toBe(200);
  } finally {
    await service.close();
  }
}, 900_000);

test('a subgraph alone survives 240 hostile documents that recur', async () => {
  const service = await start('three processes');
  const { members, env } = service.stack;
  if (members === undefined) throw new Error('the members run in a process of their own');
  const transport = createHttpTransport({
    name: 'members',
    url: members.url,
    secrets: oneSecret(env.SUBGRAPH_SECRET),
    batching: true,
    codes: [],
    log: createLog('silent'),
    metrics: { subgraphCall: () => {}, circuit: () => {} },
  });
  const caller = { kind: 'partner', partnerId: 'alpha' } as const;
  const send = (round: number) => {
    const fields = ['memberId', 'email', 'firstName', 'lastName'];
    const selections = repeat(8, (n) => `${fields[n % 4]} @include(if: $v${n}r${round})`);
    const variables = repeat(8, (n) => `$v${n}r${round}: Boolean = true`);
    return transport.execute({
      query: `query ($email: String!, ${variables}) { ${repeat(10, (n) => `x${n}: memberByEmail(email: $email) { ${selections} }`)} }`,
      variables: { email: 'both@example.com' },
      caller,
      requestId: 'r',
    });
  };
  try {
    await expectBounded(members, () =>
      inRounds(DOCUMENTS, async (round) => {
        for (let use = 0; use < 13; use += 1) expect((await send(round)).errors).toBeUndefined();
      }),
    );
  } finally {
    await transport.close();
    await service.close();
  }
}, 900_000);
