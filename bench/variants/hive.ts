// Hive Gateway by its own command: as it comes, and with the query planner in Rust that can be added to it. Its JIT made it no faster here.
import { join } from 'node:path';
import { ROOT } from '../stage.ts';
import type { Variant } from './variant.ts';

export const hive: Variant = variant('Hive Gateway', []);

export const hiveRust: Variant = variant('Hive Gateway, planner in Rust', [
  '--hive-router-runtime',
]);

function variant(title: string, flags: string[]): Variant {
  return {
    title,
    kind: 'peer',
    async start(stage) {
      const supergraph = await stage.supergraph();
      const command = join(ROOT, 'bench/peers/hive/node_modules/.bin/hive-gateway');
      return stage.serve({
        args: (port) => [
          command,
          'supergraph',
          supergraph,
          '--host=127.0.0.1',
          `--port=${port}`,
          ...flags,
        ],
      });
    },
  };
}
