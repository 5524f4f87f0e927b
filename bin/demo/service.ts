// Runs the gateway and its subgraphs in one process, with the demo in empty stores.
import { openKeyStore, serveGateway } from '@partner-loyalty/gateway';
import { openMembersStore, startMembers } from '@partner-loyalty/members';
import { openProcess } from '@partner-loyalty/runtime/process/open.ts';
import {
  type OWN_SUBGRAPHS,
  settingsOfSubgraph,
} from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { createInProcessTransport } from '@partner-loyalty/runtime/subgraph/inprocess.ts';
import type { Subgraph } from '@partner-loyalty/runtime/subgraph/types.ts';
import { openRemoteTransport } from '@partner-loyalty/runtime/transport/remote.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { openStandingsStore, startStandings } from '@partner-loyalty/standings';
import type { StartService } from '../cli/shell/extension.ts';
import { gatewayExtensions, membersExtensions, standingsExtensions } from '../extensions/list.ts';
import { banner, baseUrlOf } from './banner.ts';
import { demoConsoleLink, fillDemo, storesForDemo } from './demo.ts';
import { DEMO_MEMBER } from './members.ts';

/** The lifecycle closes what this function opens. */
export const startService: StartService = async (settings, parts) => {
  const { lifecycle, log } = parts;
  const opened = await openProcess(settings, 'all', { lifecycle, log });
  const { metrics, ports, caches } = opened;
  const storeSettings = { ...settings, metrics };
  const keys = await openKeyStore(storeSettings);
  lifecycle.opened('keys', keys.close);
  const inProcess: Record<string, Transport> = { ...parts.inProcess };
  const carry = (subgraph: Subgraph) => {
    const transport = createInProcessTransport(subgraph, log, caches, metrics);
    lifecycle.opened(subgraph.name, transport.close);
    inProcess[subgraph.name] = transport;
  };
  /** Whether the subgraph runs here and not in another process. */
  const isCarried = (name: (typeof OWN_SUBGRAPHS)[number]) =>
    settingsOfSubgraph(settings, name).url === undefined;
  /** The transport from standings to members, if members runs in another process. */
  const remoteMembers = async () => {
    const members = await openRemoteTransport('members', settings, { log, metrics });
    if (members !== undefined) lifecycle.opened('members', members.close);
    return members;
  };
  const members = isCarried('members') ? await openMembersStore(storeSettings) : undefined;
  if (members !== undefined) {
    const extensions = await membersExtensions();
    carry(await startMembers(members, settings, { extensions, log, metrics }));
  }
  const standings = isCarried('standings') ? await openStandingsStore(storeSettings) : undefined;
  if (standings !== undefined) {
    const toMembers = inProcess.members ?? (await remoteMembers());
    const extensions = await standingsExtensions();
    const given = { members: toMembers, extensions, log, metrics };
    carry(startStandings(standings, settings, given));
  }

  const emptyStores = await storesForDemo(settings, { keys, members, standings });
  const demoKeys = emptyStores && (await fillDemo(emptyStores, new Date()));
  await parts.published;
  const extensions = await gatewayExtensions();
  await serveGateway({ ...opened, keyStore: keys, inProcess, extensions });

  const partners = await keys.partners();
  const baseUrl = baseUrlOf(settings, ports.port);
  const text = banner({
    environment: settings.environment,
    endpoint: `${baseUrl}/graphql`,
    consoleLink: await demoConsoleLink(keys, settings, baseUrl),
    demoKeys,
    partnerIds: partners.map(({ partnerId }) => partnerId),
    hasExplorer: settings.explorer === 'on',
  });
  return { baseUrl, demoKeys, demoMemberId: DEMO_MEMBER.memberId, banner: text };
};
