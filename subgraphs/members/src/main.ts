// The members subgraph by itself: answers signed requests over HTTP, with health and metrics on a port of their own.
import {
  createLog,
  createMetrics,
  openPorts,
  readEnv,
  readSettings,
  runWorkers,
  serveSubgraph,
} from '@partner-loyalty/runtime';
import { openMembersStore, startMembers } from './index.ts';

const settings = readSettings(readEnv(), 'members');
const log = createLog(settings.logLevel);

await runWorkers({
  settings,
  log,
  start: async (lifecycle) => {
    const metrics = createMetrics();
    const subgraph = await startMembers(await openMembersStore(settings), settings, {
      log,
      metrics,
    });
    lifecycle.opened('members', subgraph.close);
    const listen = () => serveSubgraph({ subgraph, settings, log, metrics });
    await openPorts({ settings, lifecycle, ready: subgraph.ready, metrics, log, listen });
  },
});
