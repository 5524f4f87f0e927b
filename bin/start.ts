// Everything in one process: `npm start`. The one place where stores, subgraphs, transports, gateway and ports are put together.
import { openKeyStore, serveGateway, sharedCounters } from '@partner-loyalty/gateway';
import { type MembersStore, openMembersStore, startMembers } from '@partner-loyalty/members';
import {
  createHttpTransport,
  createInProcessTransport,
  createLog,
  createMetrics,
  type Lifecycle,
  readEnv,
  readSettings,
  runWorkers,
  type Settings,
  type Transport,
} from '@partner-loyalty/runtime';
import {
  createStandings,
  openStandingsStore,
  type StandingsStore,
} from '@partner-loyalty/standings';
import { banner, endpointOf } from './demo/banner.ts';
import { fillDemo, storesForDemo } from './demo/demo.ts';

/** A subgraph that runs in this process comes with its store. */
type Reached<Store> = { transport: Transport; store?: Store };

const settings = settingsOrExit();
const log = createLog(settings.logLevel);
const metrics = createMetrics();

await runWorkers({ settings, log, start, shared: sharedCounters(settings) });

async function start(lifecycle: Lifecycle): Promise<void> {
  const { environment, host, membersUrl, standingsUrl } = settings;

  const keys = await openKeyStore(settings);
  lifecycle.opened('keys', keys.close);
  const members = membersUrl === undefined ? await membersHere() : elsewhere('members', membersUrl);
  lifecycle.opened('members', members.transport.close);
  const standings =
    standingsUrl === undefined ? await standingsHere() : elsewhere('standings', standingsUrl);
  lifecycle.opened('standings', standings.transport.close);

  const empty = await storesForDemo(settings, {
    keys,
    members: members.store,
    standings: standings.store,
  });
  const demoKeys = empty && (await fillDemo(empty, new Date()));

  const transports = { members: members.transport, standings: standings.transport };
  const { port } = await serveGateway({
    settings,
    keyStore: keys,
    transports,
    lifecycle,
    metrics,
    log,
  });

  if (lifecycle.worker?.first === false) return;
  const [partner] = await keys.partners();
  process.stdout.write(
    banner({
      environment,
      endpoint: endpointOf(host, port),
      demoKeys,
      partnerId: partner?.partnerId,
    }),
  );
}

async function membersHere(): Promise<Reached<MembersStore>> {
  const store = await openMembersStore(settings);
  return {
    store,
    transport: createInProcessTransport(
      await startMembers(store, settings, { log, metrics }),
      log,
      metrics,
    ),
  };
}

async function standingsHere(): Promise<Reached<StandingsStore>> {
  const store = await openStandingsStore(settings);
  return { store, transport: createInProcessTransport(createStandings(store), log, metrics) };
}

function elsewhere(name: string, url: string): Reached<never> {
  const { subgraphSecret = '' } = settings; // Settings with a subgraph's address are refused without it.
  return { transport: createHttpTransport({ name, url, secret: subgraphSecret, log, metrics }) };
}

function settingsOrExit(): Settings {
  try {
    return readSettings(readEnv(), 'all');
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return process.exit(1);
  }
}
