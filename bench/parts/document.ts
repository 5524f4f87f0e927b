// The first request of a document nobody has sent before, beside one that everybody sends: what parsing, validating and planning take.
import { checkAnswers } from '../check.ts';
import { requestTexts } from '../http.ts';
import { saturate } from '../load/load.ts';
import { drive } from '../load/raw.ts';
import { digits, HOT_QUERY, NUMBER } from '../population.ts';
import { say } from '../rounds.ts';
import type { Running } from '../stage.ts';
import { shown } from '../statistics.ts';
import { apollo } from '../variants/apollo.ts';
import { hive } from '../variants/hive.ts';
import { mercurius } from '../variants/mercurius.ts';
import { ours } from '../variants/ours.ts';
import type { Part } from './part.ts';

const FIELDS = ['memberId', 'email', 'firstName', 'lastName', 'tier', 'points'];

export const document: Part = {
  title: 'The first request of a new document',
  how: ({ seconds, warmUpSeconds }) =>
    `Load by load/raw.ts, ${seconds} s each after ${warmUpSeconds} s of warm-up`,
  async run(stage, options) {
    const rows: string[][] = [];
    for (const variant of [ours, apollo, mercurius, hive]) {
      const running = await variant.start(stage);
      try {
        await checkAnswers(running);
        const load = {
          url: running.url,
          texts: requestTexts(running),
          members: running.members,
          connections: 32,
          place: 'load' as const,
        };
        await saturate({ ...load, seconds: options.warmUpSeconds });
        const known = await alone(running, options.seconds, () => HOT_QUERY);
        const fresh = await alone(running, options.seconds, newDocument());
        say(`${variant.title}: ${shown(fresh.p50Ms)} ms for a new document`);
        rows.push([
          variant.title,
          ...[known.p50Ms, known.p99Ms, fresh.p50Ms, fresh.p99Ms].map(shown),
        ]);
      } finally {
        await running.stop();
      }
    }
    const columns = ['', 'known, p50 ms', 'known, p99 ms', 'new, p50 ms', 'new, p99 ms'];
    return {
      tables: [{ title: 'One request after the other on one connection', columns, rows }],
      figures: {},
      notes: [],
    };
  },
};

function alone(running: Running, seconds: number, query: () => string) {
  const next = () => {
    const [text = ''] = requestTexts(running, query());
    return text.replaceAll(NUMBER, digits(Math.floor(Math.random() * running.members)));
  };
  return drive({ url: running.url, next, seconds, connections: 1 }).then((driven) => {
    if (driven.failed > 0) throw new Error(`${driven.failed} wrong answers`);
    return driven;
  });
}

/** Each with an alias of its own, over every selection of the fields. */
function newDocument(): () => string {
  let turn = Date.now();
  return () => {
    turn++;
    const fields = FIELDS.filter((_, index) => ((turn % 63) + 1) & (1 << index));
    return `query($email: String!) { a${turn}: memberByEmail(email: $email) { ${fields.join(' ')} } }`;
  };
}
