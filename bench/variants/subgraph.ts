// The members subgraph alone: ours with signed requests, and Apollo Server with @apollo/subgraph.
import { join } from 'node:path';
import { freePort } from '../../test/support/servers/port.ts';
import { expectedMember, MEMORY_MEMBERS } from '../dataset/population.ts';
import { aboutRandomMembers, requestTemplates } from '../dataset/requests.ts';
import { offer } from '../load/offered.ts';
import type { RawResult } from '../load/raw.ts';
import { MEMBER_QUERY, sendSigned, signedRequests } from '../load/signed.ts';
import { usageOf } from '../machine/usage.ts';
import { untilListening } from '../run/answers.ts';
import { type Measurable, type Sample, sampleOf, type Timing } from '../run/measure.ts';
import { launch, untilReady } from '../run/server.ts';
import { SUBGRAPH_SECRET, subgraphArgs } from '../run/subgraphs.ts';
import type { Testbed } from '../run/testbed.ts';

export type SubgraphVariant = {
  title: string;
  /** How many operations one request carries. */
  batch: number;
  args(root: string, port: number): string[];
  /** Returns a raw request. */
  request(url: string): string;
  send(url: string, timing: Pick<Timing, 'seconds' | 'connections'>): Promise<RawResult>;
};

export const single = signed(1, 'This subgraph, signed');
export const batched = signed(8, 'This subgraph, signed, 8 operations a request');
export const stock: SubgraphVariant = {
  title: 'Apollo Server with @apollo/subgraph',
  batch: 1,
  args: (root, port) => [
    join(root, 'bench/peers/subgraph.mjs'),
    JSON.stringify({ port, schema: join(root, 'subgraphs/members/schema.graphql') }),
  ],
  request: (url) => aboutRandomMembers(plainTemplate(url), MEMORY_MEMBERS),
  send: (url, timing) =>
    offer({
      ...timing,
      url,
      templates: [plainTemplate(url)],
      members: MEMORY_MEMBERS,
      cores: 'load',
    }),
};

/** Starts a subgraph on the core of what is measured. Rejects if its first answer is wrong. */
export async function startSubgraph(
  testbed: Testbed,
  root: string,
  variant: SubgraphVariant,
): Promise<Measurable> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const started = await launch(testbed.node, { root, args: variant.args(root, port) });
  await untilReady(started, (signal) => checkOnce(variant, url, signal));
  return {
    stop: started.stop,
    async measure(timing): Promise<Sample> {
      const before = usageOf(started.pid);
      const { answered, failed, ...result } = await variant.send(url, timing);
      if (failed > 0 || answered === 0)
        throw new Error(`failed requests: ${failed} of ${answered}`);
      return sampleOf(
        { ...result, requests: answered * variant.batch },
        before,
        usageOf(started.pid),
      );
    },
  };
}

function signed(batch: number, title: string): SubgraphVariant {
  const load = { secret: SUBGRAPH_SECRET, members: MEMORY_MEMBERS, batch };
  return {
    title,
    batch,
    args: (root, port) => subgraphArgs(root, { name: 'members', port, plainPort: 0 }),
    request: (url) => signedRequests({ ...load, url })(),
    send: (url, timing) => sendSigned({ ...load, ...timing, url }),
  };
}

// The answer must contain the member that the request is about, with its fields in order.
async function checkOnce(
  variant: SubgraphVariant,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  const [head = '', body = ''] = variant.request(url).split('\r\n\r\n');
  const [, ...lines] = head.split('\r\n');
  // Cast: headerLines writes two parts. fetch sets those two headers itself.
  const headers = lines
    .map((line) => line.split(': ') as [string, string])
    .filter(([name]) => !['host', 'content-length'].includes(name));
  const [, number = ''] = /member(\d+)@/.exec(body) ?? [];
  const { memberId, email, firstName, lastName } = expectedMember(Number(number));
  const fields = { memberId, email, firstName, lastName };
  const expected = JSON.stringify({ __typename: 'PartnerMemberRead', ...fields });
  await untilListening(url, signal);
  const reply = await fetch(new URL('/graphql', url), { method: 'POST', headers, body });
  const text = await reply.text();
  if (reply.status !== 200 || !text.includes(expected))
    throw new Error(`${variant.title} answers ${reply.status} ${text} instead of ${expected}`);
}

function plainTemplate(url: string): string {
  const target = { url, keys: [{}], members: MEMORY_MEMBERS };
  const [template = ''] = requestTemplates(target, MEMBER_QUERY);
  return template;
}
