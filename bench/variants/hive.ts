// Hive Gateway, started by its own command, with its default query planner and the one in Rust.
import { join } from 'node:path';
import { ROOT } from '../run/shipped.ts';
import type { Variant } from './variant.ts';

// Its JIT is off: it brought no gain here.
export const hive: Variant = variant('Hive Gateway', []);

export const hiveRust: Variant = variant('Hive Gateway, planner in Rust', [
  '--hive-router-runtime',
]);

function variant(title: string, flags: string[]): Variant {
  return {
    title,
    kind: 'peer',
    async start(testbed) {
      const supergraph = await testbed.supergraph();
      const command = join(ROOT, 'bench/peers/hive/node_modules/.bin/hive-gateway');
      const address = (port: number) => ['--host=127.0.0.1', `--port=${port}`];
      return testbed.start({
        args: (port) => [command, 'supergraph', supergraph, ...address(port), ...flags],
      });
    },
  };
}
