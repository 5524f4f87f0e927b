// Runs the standings subgraph as a service that answers signed requests over HTTP.

import { openRemoteTransport } from '@partner-loyalty/runtime/transport/remote.ts';
import { openStandingsStore, startStandings } from '@partner-loyalty/standings';
import { standingsExtensions } from './extensions/list.ts';
import { runSubgraph } from './subgraph.ts';

await runSubgraph('standings', async (settings, { lifecycle, log, metrics }) => {
  const members = await openRemoteTransport('members', settings, { log, metrics });
  if (members !== undefined) lifecycle.opened('members', members.close);
  const store = await openStandingsStore({ ...settings, metrics });
  const extensions = await standingsExtensions();
  return startStandings(store, settings, { members, extensions, log, metrics });
});
