// `loyalty supergraph dev`: a gateway of one's own, which follows a subgraph under development.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openGraphStore } from '@partner-loyalty/gateway';
import {
  assess,
  CompositionError,
  committedContent,
  type GraphContent,
} from '@partner-loyalty/gateway/publish';
import { refuseReservedName } from '@partner-loyalty/gateway/registry';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { type Lifecycle, runProcess } from '@partner-loyalty/runtime/process/lifecycle.ts';
import { readEnv, readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import {
  GATEWAY_SUBGRAPH,
  OWN_SUBGRAPHS,
  settingsOfSubgraph,
  variableOf,
} from '@partner-loyalty/runtime/settings/subgraphs.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Transport } from '@partner-loyalty/runtime/transport/types.ts';
import { DEMO_MEMBER } from '../../demo/members.ts';
import { type Started, startService } from '../../demo/service.ts';
import { CommandError, type Shell } from '../shell/shell.ts';
import { sendToRegistry } from './client.ts';
import { createFollower, runningSchema, schemaFile } from './follow.ts';

export type DevOptions = { url: string; registry?: string; port?: number };

/** What it takes from the environment: the rest may be the settings of another service. */
const VARIABLES = ['PORT', 'ADMIN_PORT', 'HOST', 'LOG_LEVEL', 'LOYALTY_REGISTRY'];
const TOKEN = 'LOYALTY_SUBGRAPH_TOKEN';

/** Resolves when the gateway serves; it ends with the process, at SIGINT or SIGTERM. */
export async function dev(
  shell: Shell,
  name: string,
  file: string | undefined,
  { url, registry, port }: DevOptions,
): Promise<void> {
  const builtIn: readonly string[] = [...OWN_SUBGRAPHS, GATEWAY_SUBGRAPH];
  if (builtIn.includes(name)) throw new CommandError(`${name} is part of the service`);
  refuseReservedName(name);
  const given = devSettings(name, { url, port });
  const { secret = '' } = settingsOfSubgraph(given, name);
  const service = registry ?? given.registry;
  const base = await publishedGraph(service, given.subgraphToken);
  const settings = { ...given, dataDir: mkdtempSync(join(tmpdir(), 'loyalty-dev-')) };
  process.once('exit', () => rmSync(settings.dataDir, { recursive: true, force: true }));
  const source = file === undefined ? runningSchema({ name, url, secret }) : schemaFile(file);

  async function start(lifecycle: Lifecycle): Promise<void> {
    lifecycle.opened('schema', source.close);
    const publish = await openPublishing(settings, lifecycle);
    await publish(base);
    const look = createFollower(
      source,
      async (sdl) => {
        const { graph, lines } = await compose(base, { name, url, sdl, file: source.place });
        // The store is being closed, and Ctrl-C has ended the process that composes.
        if (lifecycle.draining()) return;
        for (const line of lines) shell.note(line);
        if (graph === undefined) return;
        await publish(graph);
        shell.note(`${source.place}: composed`);
      },
      (fault) => shell.note(fault),
    );
    const published = look();
    const others = base.subgraphs.filter((each) => ![...builtIn, name].includes(each.name));
    const inProcess = Object.fromEntries(others.map((each) => [each.name, absentSubgraph()]));
    const log = createLog(settings.logLevel);
    const started = await startService(settings, { lifecycle, log, inProcess, published });
    const { dataDir } = settings;
    if (shell.json) shell.print(asRow(started, { secret, dataDir }));
    else shell.write(asText(started, { name, url, secret, dataDir, service }));
    const timer = setInterval(() => void look(), EVERY_MS);
    lifecycle.opened('following', async () => clearInterval(timer));
  }

  await runProcess(createLog(settings.logLevel), start);
}

const EVERY_MS = 1_000;

/** Those of a sandbox. Throws an Error that names what is wrong. */
function devSettings(
  name: string,
  { url, port }: { url: string; port: number | undefined },
): Settings {
  const env = readEnv();
  const secret = variableOf(name, 'secret');
  const kept = [...VARIABLES, TOKEN].map((variable) => [variable, env[variable]]);
  return readSettings(
    {
      LOG_LEVEL: 'warn',
      ...Object.fromEntries(kept.filter(([, value]) => value)),
      ...(port !== undefined && { PORT: String(port) }),
      [variableOf(name, 'url')]: url,
      [secret]: env[secret]?.trim() || randomBytes(24).toString('hex'),
    },
    'all',
  );
}

/** What is published, or without a registry the committed graph. */
async function publishedGraph(
  registry: string | undefined,
  token: string | undefined,
): Promise<GraphContent> {
  if (registry === undefined) return committedContent();
  const outcome = await sendToRegistry(registry, token, { operation: 'show' });
  if ('refused' in outcome) throw new CommandError(outcome.refused);
  // Cast: the registry shows versions with their content.
  const { supergraph, subgraphs, schemas } = outcome.result as GraphContent;
  return { supergraph, subgraphs, schemas };
}

/** Returns a function that adds a version, which the gateway serves within a second. */
async function openPublishing(
  settings: Settings,
  lifecycle: Lifecycle,
): Promise<(graph: GraphContent) => Promise<void>> {
  const store = await openGraphStore(settings);
  lifecycle.opened('versions', store.close);
  let version = 0;
  return async (graph) => {
    version += 1;
    const about = { publishedAt: new Date(), changes: [], change: 'dev' };
    await store.append({ version, ...graph, ...about });
  };
}

type Schema = { name: string; url: string; sdl: string; file: string };

/** The graph with the schema in place of the published one; undefined if they do not compose. */
async function compose(
  before: GraphContent,
  { name, url, sdl, file }: Schema,
): Promise<{ graph?: GraphContent; lines: string[] }> {
  const known = before.subgraphs.find((each) => each.name === name);
  // Its settings say where it is.
  const entry = { url, batching: false, codes: [], ...known, name };
  try {
    const { after, notices } = await assess({ kind: 'subgraph', before, entry, sdl, file });
    return { graph: after, lines: notices.map(({ message }) => message) };
  } catch (error) {
    if (error instanceof CompositionError) return { lines: [...error.faults] };
    return { lines: [`${file}: ${error instanceof Error ? error.message : String(error)}`] };
  }
}

/** Stands for a subgraph of another team: nothing of it is known here. */
function absentSubgraph(): Transport {
  return {
    execute({ variables }) {
      const asked = variables?.representations;
      return { data: Array.isArray(asked) ? { _entities: asked.map(() => null) } : {} };
    },
    ready: async () => undefined,
    close: async () => {},
  };
}

type About = {
  name: string;
  url: string;
  secret: string;
  dataDir: string;
  service: string | undefined;
};

function asRow({ baseUrl, demoKeys = [] }: Started, about: Pick<About, 'secret' | 'dataDir'>) {
  const [key] = demoKeys;
  return { endpoint: `${baseUrl}/graphql`, explorer: `${baseUrl}/explorer`, ...key, ...about };
}

function asText({ banner }: Started, { name, url, secret, dataDir, service }: About): string {
  return `${banner}  ${name} at ${url} verifies requests with this secret:

    export ${variableOf(name, 'secret')}=${secret}

  The other subgraphs are those of ${service ?? 'this release'}; all but members and standings answer null.
  A member's token:  DATA_DIR=${dataDir} loyalty tokens issue ${DEMO_MEMBER.memberId}

`;
}
