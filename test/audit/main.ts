// Runs the public federation audit through the service: `npm run audit -- FOLDER`.
//
// FOLDER is a checkout of https://github.com/graphql-hive/federation-gateway-audit after `npm ci`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { variableOf } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { composeSupergraph } from '../../extensions/registry/src/publish/compose.ts';
import { CompositionError } from '../../extensions/registry/src/publish/faults.ts';
import { temporaryFolder } from '../support/folder.ts';
import { tagged } from '../support/graphs/tagged.ts';
import { startProcess } from '../support/servers/process.ts';
import { createClient } from '../support/service/client.ts';
import { loyaltyJson } from '../support/service/loyalty.ts';
import { startStack } from '../support/service/stack.ts';
import { until } from '../support/until.ts';

type Suite = { id: string; subgraphs: Subgraph[]; supergraph: string; tests: Test[] };
type Subgraph = { name: string; sdl: string };
type Test = { query: string; expected: { data?: unknown; errors?: boolean } };

const [folder = '.'] = process.argv.slice(2);
const PORT = 4_200;
const AUDIT = `http://127.0.0.1:${PORT}`;

/** It needs Node 22 for this alone. */
const RESOLVERS = `Promise.withResolvers ??= () => {
  const all = {};
  all.promise = new Promise((resolve, reject) => Object.assign(all, { resolve, reject }));
  return all;
}`;
const PRELOAD = `data:text/javascript,${encodeURIComponent(RESOLVERS)}`;
const serve = 'cd "$0" && exec node --import tsx --import "$1" src/cli.ts serve --port "$2"';
const audit = await startProcess({
  command: 'sh',
  args: ['-c', serve, folder, PRELOAD, String(PORT)],
});
await audit.wrote(/Server started/);
const place = temporaryFolder();
const file = join(place.path, 'supergraph.graphql');
try {
  const suites = await readSuites();
  writeFileSync(file, suites[0]?.supergraph ?? '');
  const names = new Set(suites.flatMap(({ subgraphs }) => subgraphs.map(({ name }) => name)));
  const secrets = Array.from(names, (name) => [
    variableOf(name, 'secret'),
    `the secret of the subgraph ${name}`,
  ]);
  const env = {
    ...Object.fromEntries(secrets),
    SUPERGRAPH_FILE: file,
    RATE_LIMIT_BUDGET: '1000000',
  };
  const stack = await startStack('one process', env);
  try {
    await loyaltyJson(stack.env, 'partners', 'create', 'audit', '--name', 'Audit');
    const [{ key } = {}] = await loyaltyJson(stack.env, 'keys', 'create', 'audit');
    const send = createClient(stack.gateway.url, String(key));
    const served = async () => {
      const metrics = await (await fetch(`${stack.gateway.adminUrl}/metrics`)).text();
      return Number(
        /^supergraph_updates_total\{outcome="updated"\} (\d+)/m.exec(metrics)?.[1] ?? 0,
      );
    };
    let [passed, refused, failed] = [0, 0, 0];
    for (const [index, { id, supergraph, subgraphs, tests }] of suites.entries()) {
      if (index > 0) writeFileSync(file, supergraph);
      await until(async () => (await served()) >= index).catch((error) => {
        throw new Error(`${id} is not served: ${stack.gateway.output().slice(-2_000)}`, {
          cause: error,
        });
      });
      for (const { query, expected } of tests) {
        const { body } = await send({ query });
        const isRight =
          isDeepStrictEqual(body.data ?? null, expected.data ?? null) &&
          (body.errors !== undefined) === (expected.errors ?? body.errors !== undefined);
        if (isRight) passed += 1;
        else if (isRefused(subgraphs)) refused += 1;
        else {
          failed += 1;
          console.log(`${id}: ${query}\n  expected ${JSON.stringify(expected)}`);
          console.log(`  got      ${JSON.stringify(body)}`);
        }
      }
    }
    console.log(`${passed} cases pass, ${refused} are refused by publish, ${failed} fail`);
    process.exitCode = failed === 0 ? 0 : 1;
  } finally {
    await stack.close();
  }
} finally {
  await audit.stop();
  place.remove();
}

/** One at a time: of all at once, the audit's server resets some connections. */
async function readSuites(): Promise<Suite[]> {
  const suites: Suite[] = [];
  for (const id of (await get('ids')) as string[]) {
    const subgraphs = (await get(`${id}/subgraphs`)) as Subgraph[];
    const tests = (await get(`${id}/tests`)) as Test[];
    const response = await fetch(`${AUDIT}/${id}/supergraph`);
    suites.push({ id, subgraphs, supergraph: tagged(await response.text()), tests });
  }
  return suites;
}

/** Whether publishing would refuse the graph, and say why. */
function isRefused(subgraphs: readonly Subgraph[]): boolean {
  try {
    composeSupergraph(subgraphs.map((each) => ({ ...each, file: each.name })));
    return false;
  } catch (error) {
    if (!(error instanceof CompositionError)) throw error;
    console.log(error.message);
    return true;
  }
}

async function get(path: string): Promise<unknown> {
  return (await fetch(`${AUDIT}/${path}`)).json();
}
