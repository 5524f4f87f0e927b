// Mercurius' gateway with its JIT.
// It sends two requests to standings for each look-up: one for the tier, one for the points.
import { join } from 'node:path';
import { ROOT } from '../run/shipped.ts';
import type { Variant } from './variant.ts';

export const mercurius: Variant = {
  title: 'Mercurius gateway, JIT',
  kind: 'peer',
  async start(testbed) {
    const { plain } = await testbed.subgraphs();
    const script = join(ROOT, 'bench/peers/mercurius/gateway.mjs');
    return testbed.start({ args: (port) => [script, JSON.stringify({ port, ...plain })] });
  },
};
