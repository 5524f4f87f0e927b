// Runs the standings subgraph in a process of its own.
import {
  createLog,
  createMetrics,
  openPorts,
  readEnv,
  readSettings,
  runWorkers,
  serveSubgraph,
} from '@partner-loyalty/runtime';
import { createStandings, openStandingsStore } from './index.ts';

const settings = readSettings(readEnv(), 'standings');
const log = createLog(settings.logLevel);

await runWorkers({
  settings,
  log,
  start: async (lifecycle) => {
    const subgraph = createStandings(await openStandingsStore(settings));
    lifecycle.opened('store', subgraph.close);
    const metrics = createMetrics();
    const listen = () => serveSubgraph({ subgraph, settings, log, metrics });
    await openPorts({ settings, lifecycle, ready: subgraph.ready, metrics, log, listen });
  },
});
