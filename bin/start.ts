// Runs the gateway and its subgraphs in one process: `npm start`.
import { openKeyStore, serveGateway } from '@partner-loyalty/gateway';
import { openMembersStore, startMembers } from '@partner-loyalty/members';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { clearErased } from '@partner-loyalty/runtime/process/erased.open.ts';
import { settingsOrExit } from '@partner-loyalty/runtime/process/failedstart.ts';
import { type Lifecycle, runProcess } from '@partner-loyalty/runtime/process/lifecycle.ts';
import { openTracing } from '@partner-loyalty/runtime/process/tracing.ts';
import {
  type OWN_SUBGRAPHS,
  settingsOfSubgraph,
} from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { createInProcessTransport } from '@partner-loyalty/runtime/subgraph/inprocess.ts';
import type { Subgraph } from '@partner-loyalty/runtime/subgraph/types.ts';
import { openRemoteTransport } from '@partner-loyalty/runtime/transport/remote.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { openStandingsStore, startStandings } from '@partner-loyalty/standings';
import { banner, baseUrlOf } from './demo/banner.ts';
import { demoConsoleLink, fillDemo, storesForDemo } from './demo/demo.ts';

const settings = settingsOrExit('all');
const log = createLog(settings.logLevel);
const metrics = createMetrics(settings.commit);
const caches = createCaches();

await runProcess(log, start, settings);

async function start(lifecycle: Lifecycle): Promise<void> {
  await clearErased(settings, log);
  const tracing = await openTracing(settings, 'all', { lifecycle, log });
  const keys = await openKeyStore(settings);
  lifecycle.opened('keys', keys.close);
  const inProcess: Record<string, Transport> = {};
  const carry = (subgraph: Subgraph) => {
    const transport = createInProcessTransport(subgraph, log, caches, metrics);
    lifecycle.opened(subgraph.name, transport.close);
    inProcess[subgraph.name] = transport;
  };
  const members = isCarried('members') ? await openMembersStore(settings, log) : undefined;
  if (members !== undefined) carry(await startMembers(members, settings, { log, metrics }));
  const standings = isCarried('standings') ? await openStandingsStore(settings) : undefined;
  if (standings !== undefined) {
    const toMembers = inProcess.members ?? (await remoteMembers(lifecycle));
    carry(startStandings(standings, settings, { members: toMembers, log, metrics }));
  }

  const emptyStores = await storesForDemo(settings, { keys, members, standings });
  const demoKeys = emptyStores && (await fillDemo(emptyStores, new Date()));
  const { port } = await serveGateway({
    settings,
    keyStore: keys,
    inProcess,
    lifecycle,
    caches,
    metrics,
    tracing,
    log,
  });

  const partners = await keys.partners();
  const baseUrl = baseUrlOf(settings, port);
  const endpoint = `${baseUrl}/graphql`;
  const consoleLink = await demoConsoleLink(keys, settings, baseUrl);
  process.stdout.write(
    banner({
      environment: settings.environment,
      endpoint,
      consoleLink,
      demoKeys,
      partnerIds: partners.map(({ partnerId }) => partnerId),
      hasExplorer: settings.explorer === 'on',
    }),
  );
}

/** Whether the subgraph runs here and not in another process. */
function isCarried(name: (typeof OWN_SUBGRAPHS)[number]): boolean {
  return settingsOfSubgraph(settings, name).url === undefined;
}

/** The transport from standings to members, if members runs in another process. */
async function remoteMembers(lifecycle: Lifecycle): Promise<Transport | undefined> {
  const members = await openRemoteTransport('members', settings, { log, metrics });
  if (members !== undefined) lifecycle.opened('members', members.close);
  return members;
}
