// The floors: plain node:http with our node options, with two calls over undici or none.
import { join } from 'node:path';
import { READS } from '../dataset/mix/operations.ts';
import { plainNodeFlags, ROOT } from '../run/shipped.ts';
import type { Variant } from './variant.ts';

export const floor: Variant = {
  title: 'Floor: node:http, two undici calls, no GraphQL',
  kind: 'floor',
  async start(testbed) {
    const { plain } = await testbed.subgraphs();
    return testbed.start({ args: (port) => floorArgs('floor.mjs', { port, ...plain }) });
  },
};

/** The same for the reads of the mix. */
export const floorOfMix: Variant = {
  title: 'Floor: node:http, one or two undici calls, no GraphQL',
  kind: 'floor',
  async start(testbed) {
    const { plain } = await testbed.subgraphs();
    const reads = READS.map(({ name, names, fields, variables }) => ({
      name,
      names,
      fields,
      variables: Object.keys(variables([])),
    }));
    return testbed.start({ args: (port) => floorArgs('floor.mix.mjs', { port, ...plain, reads }) });
  },
};

function floorArgs(script: string, options: object): string[] {
  return [...plainNodeFlags(), join(ROOT, 'bench/peers', script), JSON.stringify(options)];
}
