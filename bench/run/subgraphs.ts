// Starts the subgraphs that answer from memory, for every gateway of a run.

import { freePort, type ServerProcess } from '../../test/support/servers/process.ts';
import { MEMORY_MEMBERS } from '../dataset/population.ts';
import type { NodeVersion } from '../machine/machine.ts';
import { launch, untilReady } from './server.ts';
import { benchServer, ROOT } from './shipped.ts';

export type SubgraphUrls = Record<'members' | 'standings', string>;

export type Subgraphs = {
  /** GraphQL over HTTP, for the peers. */
  plain: SubgraphUrls;
  /** This project's protocol, for its gateway. */
  signed: SubgraphUrls;
};

export const SUBGRAPH_SECRET = 'a secret that only the benchmark uses';

/** Starts both on the cores of the load; `started` receives each process. */
export async function startSubgraphs(
  node: NodeVersion,
  started: (process: ServerProcess) => void,
): Promise<Subgraphs> {
  const start = async (name: keyof SubgraphUrls) => {
    const [port, plainPort] = [await freePort(), await freePort()];
    const options = { name, port, plainPort, secret: SUBGRAPH_SECRET, members: MEMORY_MEMBERS };
    const args = benchServer(ROOT, 'subgraph.ts', options);
    const process = await launch(node, { cores: 'load', args });
    started(process);
    await untilReady(process, () => process.wrote(/listening/));
    return { signed: `http://127.0.0.1:${port}`, plain: `http://127.0.0.1:${plainPort}/graphql` };
  };
  const [members, standings] = await Promise.all([start('members'), start('standings')]);
  return {
    plain: { members: members.plain, standings: standings.plain },
    signed: { members: members.signed, standings: standings.signed },
  };
}
