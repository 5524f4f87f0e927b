// Cold start: from the start of the process to its first right answer.
import { say } from '../rounds.ts';
import type { Running, Stage } from '../stage.ts';
import { shownSpread, spread } from '../statistics.ts';
import { apollo } from '../variants/apollo.ts';
import { floor } from '../variants/floor.ts';
import { hive } from '../variants/hive.ts';
import { mercurius } from '../variants/mercurius.ts';
import { ours, startInOne } from '../variants/ours.ts';
import type { Part } from './part.ts';

const STARTS = 5;

export const coldstart: Part = {
  title: 'Cold start',
  how: () => 'One request a start, of each variant one start after the other',
  async run(stage, options) {
    const members = options.quick ? 1_000 : 100_000;
    const starters: { title: string; start(stage: Stage): Promise<Running> }[] = [
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
    for (const { title, start } of starters) {
      const times: number[] = [];
      const sizes: number[] = [];
      for (let turn = 0; turn < STARTS; turn++) {
        const running = await start(stage);
        times.push(running.readyMs);
        sizes.push(running.usage().rssMb);
        await running.stop();
      }
      say(`${title}: ${Math.round(spread(times).median)} ms`);
      rows.push([title, shownSpread(spread(times)), shownSpread(spread(sizes))]);
    }
    const columns = ['', 'first right answer after ms', 'memory then, MB'];
    return {
      tables: [{ title: `${STARTS} starts, with warm file caches`, columns, rows }],
      figures: {},
      notes: [],
    };
  },
};
