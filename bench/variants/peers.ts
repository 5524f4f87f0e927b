// The variants beside this project: stock Apollo, Mercurius, and the floors on plain node:http.
import { join } from 'node:path';
import { READS } from '../dataset/operations.ts';
import type { Server } from '../run/server.ts';
import { plainNodeFlags, ROOT } from '../run/shipped.ts';
import type { Testbed } from '../run/testbed.ts';

export const apollo: Variant = {
  title: 'Apollo Gateway, stock',
  kind: 'peer',
  async start(testbed) {
    const supergraph = await testbed.supergraph();
    const script = join(ROOT, 'bench/peers/apollo.mjs');
    return testbed.start({ args: (port) => [script, JSON.stringify({ port, supergraph })] });
  },
};

export const mercurius: Variant = {
  title: 'Mercurius gateway, JIT',
  kind: 'peer',
  async start(testbed) {
    const { plain } = await testbed.subgraphs();
    const script = join(ROOT, 'bench/peers/mercurius/gateway.mjs');
    return testbed.start({ args: (port) => [script, JSON.stringify({ port, ...plain })] });
  },
};

export const floor: Variant = {
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
    const script = join(ROOT, 'bench/peers/floor.mjs');
    return testbed.start({
      args: (port) => [...plainNodeFlags(), script, JSON.stringify({ port, ...plain, reads })],
    });
  },
};

export type Variant = {
  /** As tables and the chart show it. */
  title: string;
  kind: 'ours' | 'peer' | 'floor';
  start(testbed: Testbed): Promise<Server>;
};
