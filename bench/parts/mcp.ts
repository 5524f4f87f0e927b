// The same read at /mcp and at /graphql: the whole service in one process, with keys for each.
import { isDeepStrictEqual } from 'node:util';
import { memberNumber, PLACEHOLDER } from '../dataset/population.ts';
import { rawRequest } from '../dataset/requests.ts';
import { createKeys, storesOf } from '../dataset/stores.ts';
import { ratios, shown, shownSpread, spread } from '../report/statistics.ts';
import { post } from '../run/answers.ts';
import { underWork } from '../run/measure.ts';
import { type Contender, values } from '../run/measurements.ts';
import { inTurns, measureAlternating } from '../run/rounds.ts';
import type { Server } from '../run/server.ts';
import { startInOne } from '../variants/ours.ts';
import type { Part } from './part.ts';

type Endpoint = 'graphql' | 'mcp';

const MEMBERS = 10_000;
const FIELDS = 'memberId email firstName lastName tier points externalId enrolledAt';
const EMAIL = `member${PLACEHOLDER}@bench.example`;
/** Both read the same. */
const BODIES: Record<Endpoint, object> = {
  graphql: {
    query: `query Find($email: String!) { member: memberByEmail(email: $email) { ${FIELDS} } }`,
    variables: { email: EMAIL },
  },
  mcp: {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'find_member', arguments: { email: EMAIL } },
  },
};

export const mcp: Part = {
  title: 'The same read at /mcp',
  notes: [
    'Both are this service in one process on the embedded store, without Redis. The tool is `find_member`; the other row sends the operation that it stands for.',
  ],
  method: inTurns,
  async run(testbed, options) {
    const all = await measureAlternating(testbed, [at('graphql'), at('mcp')], options);
    const [graphql] = all.map((each) => values(each, 'cpuMicros'));
    return {
      tables: [
        {
          title: `A look-up with eight fields, ${options.connections} connections`,
          columns: ['', 'CPU µs/request', 'to /graphql', 'requests/s', 'p50 ms', 'p99 ms'],
          rows: all.map((each) => [
            each.contender.title,
            shownSpread(spread(values(each, 'cpuMicros'))),
            shown(ratios(values(each, 'cpuMicros'), graphql ?? []).median),
            ...(['perSecond', 'p50Ms', 'p99Ms'] as const).map((name) =>
              shownSpread(spread(values(each, name))),
            ),
          ]),
        },
      ],
      figures: {},
    };
  },
};

function at(endpoint: Endpoint): Contender {
  return {
    title: `/${endpoint}`,
    async start(testbed) {
      const [mcpKey = {}] = await createKeys(storesOf(MEMBERS), 1, { endpoint: 'mcp' });
      const server = await startInOne(testbed, MEMBERS, { redis: false });
      const [key = {}] = server.keys;
      const targets = {
        graphql: targetOf(server, 'graphql', key),
        mcp: targetOf(server, 'mcp', mcpKey),
      };
      const { url, headers, body } = targets[endpoint];
      const work = {
        requests: { templates: [rawRequest(url, headers, body)], members: MEMBERS },
        check: () => checkSame(targets),
      };
      return underWork({ ...server, url }, work);
    },
  };
}

type Target = { url: string; headers: Record<string, string>; body: string };

function targetOf({ url }: Server, endpoint: Endpoint, key: Record<string, string>): Target {
  return {
    url: new URL(`/${endpoint}`, url).href,
    headers: { accept: 'application/json, text/event-stream', ...key },
    body: JSON.stringify(BODIES[endpoint]),
  };
}

/** Rejects if the endpoints do not answer with the same member. */
async function checkSame({ graphql, mcp }: Record<Endpoint, Target>): Promise<void> {
  const member = memberNumber(Math.floor(Math.random() * MEMBERS));
  const ask = async ({ url, headers, body }: Target) => {
    const reply = await post(url, headers, body.replaceAll(PLACEHOLDER, member));
    // Cast: GraphQL over HTTP, and JSON-RPC with the result of a tool.
    return (await reply.json()) as {
      data?: { member?: unknown };
      result?: { structuredContent?: unknown };
    };
  };
  const [{ data }, { result }] = [await ask(graphql), await ask(mcp)];
  if (!data?.member || !isDeepStrictEqual(data.member, result?.structuredContent))
    throw new Error(`/mcp answers ${JSON.stringify(result)} instead of ${JSON.stringify(data)}`);
}
