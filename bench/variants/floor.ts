// The floors: what plain node:http does with the same flags, with two calls over undici, and without calls.
import { join } from 'node:path';
import { ENV_FILE, ROOT } from '../stage.ts';
import type { Variant } from './variant.ts';

export const floor: Variant = {
  title: 'Floor: node:http, two undici calls, no GraphQL',
  kind: 'floor',
  async start(stage) {
    const { plain } = await stage.subgraphs();
    return stage.serve({
      args: (port) => [
        ENV_FILE,
        join(ROOT, 'bench/peers/floor.mjs'),
        JSON.stringify({ port, ...plain }),
      ],
    });
  },
};

export const floorInProcess: Variant = {
  title: 'Floor in process: node:http, two maps, no GraphQL',
  kind: 'floor',
  start: (stage) => {
    const answers = stage.answers();
    return stage.serve({
      args: (port) => [
        ENV_FILE,
        join(ROOT, 'bench/peers/floor.inprocess.mjs'),
        JSON.stringify({ port, answers }),
      ],
    });
  },
};
