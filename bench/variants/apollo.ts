// Stock Apollo: @apollo/gateway behind @apollo/server's standalone server.
import { join } from 'node:path';
import { ROOT } from '../run/shipped.ts';
import type { Variant } from './variant.ts';

export const apollo: Variant = {
  title: 'Apollo Gateway, stock',
  kind: 'peer',
  async start(testbed) {
    const supergraph = await testbed.supergraph();
    const script = join(ROOT, 'bench/peers/apollo.mjs');
    return testbed.start({ args: (port) => [script, JSON.stringify({ port, supergraph })] });
  },
};
