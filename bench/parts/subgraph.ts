// A subgraph by itself: this project's, from signed request to answer, beside Apollo Server with @apollo/subgraph on the same schema.
import { join } from 'node:path';
import { freePort } from '../../test/support/servers/port.ts';
import { startProcess } from '../../test/support/servers/process.ts';
import { untilListening } from '../check.ts';
import { requestTexts } from '../http.ts';
import { offer } from '../load/offered.ts';
import type { Driven } from '../load/raw.ts';
import { MEMBER_QUERY, sendSigned, signedTexts } from '../load/signed.ts';
import { placed } from '../machine.ts';
import { answerOf, digits, NUMBER } from '../population.ts';
import { say } from '../rounds.ts';
import { ENV_FILE, MEMORY_MEMBERS, ROOT, type Stage, untilEnded } from '../stage.ts';
import { ratios, shown, shownSpread, spread } from '../statistics.ts';
import { usageOf } from '../usage.ts';
import type { Options, Part } from './part.ts';

type Sample = { perSecond: number; cpuMicros: number; p50Ms: number; p99Ms: number };
type Way = {
  title: string;
  /** How many travel in one request. */
  operations: number;
  server(port: number): string[];
  /** Makes requests, each ready to be sent. */
  texts(url: string): () => string;
  send(url: string, options: Options): Promise<Driven>;
};

const SECRET = 'a secret of the benchmark alone';

function own(batch: number): Way {
  return {
    title:
      batch === 1
        ? 'This subgraph, signed'
        : `This subgraph, signed, ${batch} operations a request`,
    operations: batch,
    server(port) {
      const options = {
        name: 'members',
        port,
        plainPort: 0,
        secret: SECRET,
        members: MEMORY_MEMBERS,
      };
      return [
        ENV_FILE,
        '--import',
        'tsx',
        join(ROOT, 'bench/subgraph.ts'),
        JSON.stringify(options),
      ];
    },
    texts: (url) => signedTexts({ url, secret: SECRET, members: MEMORY_MEMBERS, batch }),
    send: (url, { seconds, connections }) =>
      sendSigned({ url, secret: SECRET, members: MEMORY_MEMBERS, batch, seconds, connections }),
  };
}

const stock: Way = {
  title: 'Apollo Server with @apollo/subgraph',
  operations: 1,
  server: (port) => [
    join(ROOT, 'bench/peers/subgraph.mjs'),
    JSON.stringify({ port, schema: join(ROOT, 'subgraphs/members/schema.graphql') }),
  ],
  texts: (url) => () =>
    stockText(url).replaceAll(NUMBER, digits(Math.floor(Math.random() * MEMORY_MEMBERS))),
  send: (url, { seconds, connections }) =>
    offer({
      url,
      texts: [stockText(url)],
      members: MEMORY_MEMBERS,
      seconds,
      connections,
      place: 'load',
    }),
};

export const subgraph: Part = {
  title: 'A subgraph by itself',
  how: ({ seconds, warmUpSeconds, rounds }) =>
    `Load by load/raw.ts and load/signed.ts, ${rounds} rounds of ${seconds} s after ${warmUpSeconds} s of warm-up`,
  async run(stage, options) {
    const ways = [own(1), own(8), stock];
    const samples = ways.map((): Sample[] => []);
    for (let round = 0; round < options.rounds; round++) {
      for (const [index, way] of ways.entries()) {
        const sample = await measureOnce(way, stage, options);
        say(`round ${round + 1}: ${way.title}: ${Math.round(sample.perSecond)} operations/s`);
        samples[index]?.push(sample);
      }
    }
    const of = (index: number, name: keyof Sample) =>
      samples[index]?.map((sample) => sample[name]) ?? [];
    return {
      tables: [
        {
          title: 'The look-up that the gateway sends to members, answered from memory',
          columns: ['', 'operations/s', 'to Apollo Server', 'CPU µs/operation', 'p50 ms', 'p99 ms'],
          rows: ways.map(({ title }, index) => [
            title,
            shownSpread(spread(of(index, 'perSecond'))),
            shown(ratios(of(index, 'perSecond'), of(2, 'perSecond')).median),
            ...(['cpuMicros', 'p50Ms', 'p99Ms'] as const).map((name) =>
              shownSpread(spread(of(index, name))),
            ),
          ]),
        },
      ],
      figures: { subgraphToApollo: ratios(of(0, 'perSecond'), of(2, 'perSecond')) },
      notes: ['Requests are sent, and signed, by a process on the other core.'],
    };
  },
};

async function measureOnce(way: Way, stage: Stage, options: Options): Promise<Sample> {
  const port = await freePort();
  const started = await startProcess({
    ...placed('gateway', stage.node.path, way.server(port)),
    env: { NODE_ENV: 'production' },
  });
  const url = `http://127.0.0.1:${port}/`;
  try {
    await Promise.race([checkOnce(way, url), untilEnded(started)]);
    await way.send(url, { ...options, seconds: options.warmUpSeconds });
    const before = usageOf(started.pid);
    const { answered, failed, seconds, p50Ms, p99Ms } = await way.send(url, options);
    if (failed > 0 || answered === 0)
      throw new Error(`${way.title}: ${failed} wrong answers of ${answered}`);
    const operations = answered * way.operations;
    const cpuMicros = ((usageOf(started.pid).cpuSeconds - before.cpuSeconds) / operations) * 1e6;
    return { perSecond: operations / seconds, cpuMicros, p50Ms, p99Ms };
  } finally {
    await started.stop();
  }
}

// The answer has to hold the member that the request asks for, in the order it asks.
async function checkOnce(way: Way, url: string): Promise<void> {
  const [head = '', body = ''] = way.texts(url)().split('\r\n\r\n');
  const [, ...lines] = head.split('\r\n');
  // Cast: the texts above are written so. fetch sets those two by itself.
  const headers = lines
    .map((line) => line.split(': ') as [string, string])
    .filter(([name]) => !['host', 'content-length'].includes(name));
  const [, number = ''] = /member(\d+)@/.exec(body) ?? [];
  const { memberId, email, firstName, lastName } = answerOf(Number(number));
  const right = JSON.stringify({
    __typename: 'PartnerMemberRead',
    memberId,
    email,
    firstName,
    lastName,
  });
  await untilListening(url);
  const reply = await fetch(new URL('/graphql', url), { method: 'POST', headers, body });
  const text = await reply.text();
  if (reply.status !== 200 || !text.includes(right))
    throw new Error(`${way.title} answers ${reply.status} ${text} instead of ${right}`);
}

function stockText(url: string): string {
  const [text = ''] = requestTexts({ url, keys: [{}], members: MEMORY_MEMBERS }, MEMBER_QUERY);
  return text;
}
