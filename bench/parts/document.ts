// The first request with a document, which is parsed, validated and planned, beside later ones.
import { LOOKUP_QUERY } from '../dataset/population.ts';
import { aboutRandomMembers, requestTemplates } from '../dataset/requests.ts';
import { type RawResult, sendRaw } from '../load/raw.ts';
import { saturate } from '../load/saturate.ts';
import { shown } from '../report/statistics.ts';
import { checkAnswers } from '../run/answers.ts';
import { progress } from '../run/progress.ts';
import type { Server } from '../run/server.ts';
import { apollo } from '../variants/apollo.ts';
import { hive } from '../variants/hive.ts';
import { mercurius } from '../variants/mercurius.ts';
import { ours } from '../variants/ours.ts';
import type { Options, Part } from './part.ts';

const FIELDS = ['memberId', 'email', 'firstName', 'lastName', 'tier', 'points'];

export const document: Part = {
  title: 'The first request with a new document',
  method: ({ seconds, warmUpSeconds }) =>
    `Load by load/raw.ts, ${seconds} s each after ${warmUpSeconds} s of warm-up`,
  async run(testbed, options) {
    const rows: string[][] = [];
    for (const variant of [ours, apollo, mercurius, hive]) {
      const server = await variant.start(testbed);
      try {
        await warmUp(server, options);
        const known = await oneByOne(server, options.seconds, () => LOOKUP_QUERY);
        const fresh = await oneByOne(server, options.seconds, newDocuments());
        progress(`${variant.title}: ${shown(fresh.p50Ms)} ms for a new document`);
        rows.push([
          variant.title,
          ...[known.p50Ms, known.p99Ms, fresh.p50Ms, fresh.p99Ms].map(shown),
        ]);
      } finally {
        await server.stop();
      }
    }
    const columns = ['', 'known, p50 ms', 'known, p99 ms', 'new, p50 ms', 'new, p99 ms'];
    return {
      tables: [{ title: 'One request after the other on one connection', columns, rows }],
      figures: {},
    };
  },
};

async function warmUp(server: Server, { warmUpSeconds }: Options): Promise<void> {
  await checkAnswers(server);
  await saturate({
    url: server.url,
    templates: requestTemplates(server),
    members: server.members,
    seconds: warmUpSeconds,
    connections: 32,
    cores: 'load',
  });
}

async function oneByOne(
  server: Server,
  seconds: number,
  nextDocument: () => string,
): Promise<RawResult> {
  const next = () => {
    const [template = ''] = requestTemplates(server, nextDocument());
    return aboutRandomMembers(template, server.members);
  };
  const result = await sendRaw({ url: server.url, next, seconds, connections: 1 });
  if (result.failed > 0) throw new Error(`failed requests: ${result.failed}`);
  return result;
}

/** Documents that differ in their alias, over every selection of the fields. */
function newDocuments(): () => string {
  let alias = Date.now();
  return () => {
    alias++;
    const fields = FIELDS.filter((_, index) => ((alias % 63) + 1) & (1 << index));
    return `query($email: String!) { a${alias}: memberByEmail(email: $email) { ${fields.join(' ')} } }`;
  };
}
