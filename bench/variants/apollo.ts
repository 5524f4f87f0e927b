// Stock Apollo: @apollo/gateway behind @apollo/server's standalone server.
import { join } from 'node:path';
import { ROOT } from '../stage.ts';
import type { Variant } from './variant.ts';

export const apollo: Variant = {
  title: 'Apollo Gateway, stock',
  kind: 'peer',
  async start(stage) {
    const supergraph = await stage.supergraph();
    return stage.serve({
      args: (port) => [join(ROOT, 'bench/peers/apollo.mjs'), JSON.stringify({ port, supergraph })],
    });
  },
};
