// A new graph takes the place of the one that serves, without a restart or a failed request.
import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SUPERGRAPH_FILE } from '@partner-loyalty/gateway';
import { temporaryFolder } from '../support/folder.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { until } from '../support/until.ts';

const COMMITTED = readFileSync(SUPERGRAPH_FILE, 'utf8');
/** The same graph without the field `tier` on the partner surface. */
const WITHOUT_TIER = COMMITTED.replace(
  'tier: String! @join__field(graph: STANDINGS) @tag(name: "partner")',
  'tier: String! @join__field(graph: STANDINGS)',
);
const READ = 'query ($email: String!) { memberByEmail(email: $email) { email tier points } }';
const request = { query: READ, variables: { email: 'both@example.com' } };

const folder = temporaryFolder();
const file = join(folder.path, 'supergraph.graphql');
let service: InProcessService;
let swaps = 0;

/** As a deployment does: a new file, and a link to it that replaces the former link at once. */
function swap(text: string): void {
  swaps += 1;
  const next = join(folder.path, `${swaps}.graphql`);
  writeFileSync(next, text);
  symlinkSync(next, `${next}.link`);
  renameSync(`${next}.link`, file);
}

beforeAll(async () => {
  swap(COMMITTED);
  service = await startInProcess({ env: { SUPERGRAPH_FILE: file, RATE_LIMIT_BUDGET: '1000000' } });
});
afterAll(async () => {
  await service.close();
  folder.remove();
});

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${service.adminUrl}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(name));
  return Number(line?.split(' ').at(-1) ?? 0);
}

const updates = (outcome: string) => metric(`supergraph_updates_total{outcome="${outcome}"}`);

test('a graph serves as soon as its file is replaced, with other graphs before and after it', async () => {
  expect((await service.send(request)).code).toBeUndefined();
  swap(WITHOUT_TIER);
  await until(async () => (await service.send(request)).code === 'GRAPHQL_VALIDATION_FAILED');
  expect((await service.send({ ...request, query: READ.replace('tier', '') })).status).toBe(200);
  swap(COMMITTED);
  await until(async () => (await service.send(request)).status === 200);
});

test('no request fails while graphs take turns', async () => {
  const expected = (await service.send(request)).text;
  const asked = service.calls.length;
  let isDone = false;
  let count = 0;
  const callers = Array.from({ length: 8 }, async () => {
    while (!isDone) {
      const { text } = await service.send({ ...request, requestId: 'same' });
      if (text !== expected) throw new Error(`a caller received ${text}`);
      count += 1;
    }
  });
  const updated = await updates('updated');
  for (let turn = 0; turn < 5; turn += 1) {
    swap(`${COMMITTED}# ${turn}\n`);
    await until(async () => (await updates('updated')) > updated + turn);
  }
  isDone = true;
  await Promise.all(callers);
  expect(count).toBeGreaterThan(5);
  expect(service.calls.length).toBeGreaterThan(asked);
});
