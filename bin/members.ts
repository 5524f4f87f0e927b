// Runs the members subgraph as a service that answers signed requests over HTTP.
import { openMembersStore, startMembers } from '@partner-loyalty/members';
import { membersExtensions } from './extensions/list.ts';
import { runSubgraph } from './subgraph.ts';

await runSubgraph('members', async (settings, { log, metrics }) => {
  const store = await openMembersStore({ ...settings, metrics });
  return startMembers(store, settings, { extensions: await membersExtensions(), log, metrics });
});
