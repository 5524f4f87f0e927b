// Cold start: from the start of a process to its first correct answer.
import { shownSpread, spread } from '../report/statistics.ts';
import { progress } from '../run/progress.ts';
import { apollo } from '../variants/apollo.ts';
import { floor } from '../variants/floor.ts';
import { hive } from '../variants/hive.ts';
import { mercurius } from '../variants/mercurius.ts';
import { ours, startInOne } from '../variants/ours.ts';
import type { Variant } from '../variants/variant.ts';
import type { Part } from './part.ts';

const STARTS = 5;

export const coldstart: Part = {
  title: 'Cold start',
  method: () => 'One request for each start; all starts of a variant follow one another',
  async run(testbed, options) {
    const members = options.quick ? 1_000 : 100_000;
    const variants: Pick<Variant, 'title' | 'start'>[] = [
      ours,
      {
        title: `This service in one process, ${members} members`,
        start: (at) => startInOne(at, members),
      },
      apollo,
      mercurius,
      hive,
      floor,
    ];
    const rows: string[][] = [];
    for (const { title, start } of variants) {
      const times: number[] = [];
      const sizes: number[] = [];
      for (let count = 0; count < STARTS; count++) {
        const server = await start(testbed);
        times.push(server.readyMs);
        sizes.push(server.usage().rssMb);
        await server.stop();
      }
      progress(`${title}: ${Math.round(spread(times).median)} ms`);
      rows.push([title, shownSpread(spread(times)), shownSpread(spread(sizes))]);
    }
    const columns = ['', 'first correct answer, ms', 'memory then, MB'];
    return {
      tables: [{ title: `${STARTS} starts, with warm file caches`, columns, rows }],
      figures: {},
    };
  },
};
