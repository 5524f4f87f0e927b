// `loyalty supergraph dev`: a local gateway, which follows a subgraph under development.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceShell, Started } from '@partner-loyalty/cli/shell/extension.ts';
import { CommandError } from '@partner-loyalty/cli/shell/shell.ts';
import { startLoop } from '@partner-loyalty/runtime/eventloop/loop.ts';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { type Lifecycle, runProcess } from '@partner-loyalty/runtime/process/lifecycle.ts';
import { readEnv, readSettings } from '@partner-loyalty/runtime/settings/settings.ts';
import {
  isBuiltIn,
  settingsOfSubgraph,
  variableOf,
} from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { refuseReservedName } from '../entry.ts';
import { registryOf } from './client.ts';
import {
  absentSubgraph,
  compose,
  createFollower,
  openPublishing,
  publishedGraph,
  runningSchema,
  schemaFile,
} from './local.ts';

export type DevOptions = { url: string; registry?: string; port?: number };

/** What it takes from the environment: the rest may be the settings of another service. */
const VARIABLES = [
  ...['PORT', 'ADMIN_PORT', 'HOST', 'LOG_LEVEL'],
  ...['LOYALTY_REGISTRY', 'LOYALTY_SUBGRAPH_TOKEN'],
];

/** Resolves when the gateway serves; it ends with the process, at SIGINT or SIGTERM. */
export async function dev(
  shell: ServiceShell,
  name: string,
  file: string | undefined,
  { url, registry, port }: DevOptions,
): Promise<void> {
  if (isBuiltIn(name)) throw new CommandError(`${name} is part of the service`);
  refuseReservedName(name);
  const given = devSettings(name, { url, port });
  const { secret = '' } = settingsOfSubgraph(given, name);
  const service = registryOf(registry, given);
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
    const loop = startLoop(look, { everyMs: EVERY_MS, failed: (error) => shell.note(`${error}`) });
    lifecycle.opened('following', loop.stop);
    const published = loop.run();
    const others = base.subgraphs.filter((each) => !isBuiltIn(each.name) && each.name !== name);
    const inProcess = Object.fromEntries(others.map((each) => [each.name, absentSubgraph()]));
    const log = createLog(settings.logLevel);
    const started = await shell.startService(settings, { lifecycle, log, inProcess, published });
    const { dataDir } = settings;
    if (shell.json) shell.print(asRow(started, { secret, dataDir }));
    else shell.write(asText(started, { name, url, secret, dataDir, service }));
  }

  await runProcess(createLog(settings.logLevel), start);
}

const EVERY_MS = 1_000;

/** The settings of a sandbox. Throws an Error that names what is wrong. */
function devSettings(name: string, { url, port }: { url: string; port: number | undefined }) {
  const env = readEnv();
  const secret = variableOf(name, 'secret');
  const kept = VARIABLES.map((variable) => [variable, env[variable]]);
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

type About = Record<'name' | 'url' | 'secret' | 'dataDir', string> & {
  service: string | undefined;
};

function asRow({ baseUrl, demoKeys = [] }: Started, about: Pick<About, 'secret' | 'dataDir'>) {
  const [key] = demoKeys;
  return { endpoint: `${baseUrl}/graphql`, explorer: `${baseUrl}/explorer`, ...key, ...about };
}

function asText(started: Started, { name, url, secret, dataDir, service }: About): string {
  return `${started.banner}  ${name} at ${url} verifies requests with this secret:

    export ${variableOf(name, 'secret')}=${secret}

  The other subgraphs are those of ${service ?? 'this release'}; all but members and standings answer null.
  A member's token:  DATA_DIR=${dataDir} loyalty tokens issue ${started.demoMemberId}

`;
}
