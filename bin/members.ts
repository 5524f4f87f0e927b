// Runs the members subgraph as a service that answers signed requests over HTTP.
import { openMembersStore, startMembers } from '@partner-loyalty/members';
import { runSubgraph } from '@partner-loyalty/runtime/subgraph/service.ts';
import { membersExtensions } from './extensions/list.ts';

await runSubgraph('members', async (settings, { log, metrics }) => {
  const store = await openMembersStore(settings, log);
  return startMembers(store, settings, { extensions: await membersExtensions(), log, metrics });
});
