// The first request with a document, which is parsed, validated and planned, beside later ones.
import { LOOKUP_QUERY } from '../dataset/population.ts';
import { aboutRandomMembers, requestTemplates } from '../dataset/requests.ts';
import { type RawResult, sendRaw } from '../load/raw.ts';
import { shown } from '../report/statistics.ts';
import { underLoad } from '../run/measure.ts';
import { progress } from '../run/progress.ts';
import type { Server } from '../run/server.ts';
import { WARM_UP, warmUp } from '../run/warmup.ts';
import { apollo } from '../variants/apollo.ts';
import { hive } from '../variants/hive.ts';
import { mercurius } from '../variants/mercurius.ts';
import { ours } from '../variants/ours.ts';
import type { Part } from './part.ts';

const FIELDS = ['memberId', 'email', 'firstName', 'lastName', 'tier', 'points'];

export const document: Part = {
  title: 'The first request with a new document',
  method: ({ seconds }) => `Load by load/raw.ts, ${seconds} s each after ${WARM_UP}`,
  async run(testbed, options) {
    const rows: string[][] = [];
    for (const variant of [ours, apollo, mercurius, hive]) {
      const server = await variant.start(testbed);
      try {
        await warmUp([underLoad(server)], options);
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
