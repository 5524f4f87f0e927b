// Runs the standings subgraph as a service that answers signed requests over HTTP.
import { runSubgraph } from '@partner-loyalty/runtime/subgraph/service.ts';
import { openRemoteTransport } from '@partner-loyalty/runtime/transport/remote.ts';
import { openStandingsStore, startStandings } from './index.ts';

await runSubgraph('standings', async (settings, { lifecycle, log, metrics }) => {
  const members = await openRemoteTransport('members', settings, { log, metrics });
  if (members !== undefined) lifecycle.opened('members', members.close);
  const store = await openStandingsStore(settings);
  return startStandings(store, settings, { members, log, metrics });
});
