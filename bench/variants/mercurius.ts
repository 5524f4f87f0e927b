// Mercurius' gateway with its JIT. It asks standings twice a look-up, for tier and for points.
import { join } from 'node:path';
import { ROOT } from '../stage.ts';
import type { Variant } from './variant.ts';

export const mercurius: Variant = {
  title: 'Mercurius gateway, JIT',
  kind: 'peer',
  async start(stage) {
    const { plain } = await stage.subgraphs();
    return stage.serve({
      args: (port) => [
        join(ROOT, 'bench/peers/mercurius/gateway.mjs'),
        JSON.stringify({ port, ...plain }),
      ],
    });
  },
};
