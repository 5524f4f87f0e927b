// Runs the members subgraph as a service that answers signed requests over HTTP.
import { openMembersStore, startMembers } from '@partner-loyalty/members';
import { runSubgraph } from '@partner-loyalty/runtime/subgraph/service.ts';

await runSubgraph('members', async (settings, { log, metrics }) =>
  startMembers(await openMembersStore(settings, log), settings, { log, metrics }),
);
