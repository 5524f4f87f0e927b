// No request keeps the process busy for over 50 ms, even if nothing about it is cached yet.
import { HEAVY, type HeavyRequest, SLOW } from '../support/cases/heavy.ts';
import { busiestThread, calibrate, cpuOf, median } from '../support/cpu.ts';
import { type DeployedService, startDeployed } from '../support/service/stack.ts';

/** In milliseconds, where calibrate() gives 10. */
const BOUND = 50;
const ROUNDS = 7;
/** Before them: V8 compiles functions again as often as it has seen them run. */
const WARMING = 10;

let service: DeployedService;
/** Plans operations; the other threads are V8's own. */
let planner: number;

beforeAll(async () => {
  service = await startDeployed('one process', { RATE_LIMIT_BUDGET: '1000000' });
});
afterAll(() => service.close());

/** What a request costs the process, in milliseconds of CPU. */
async function cost(request: HeavyRequest): Promise<number> {
  const { pid } = service.stack.gateway;
  const total = () => cpuOf(pid) + cpuOf(pid, planner);
  const before = total();
  expect([200, 400]).toContain((await service.send(request)).status);
  return total() - before;
}

test('a request takes at most 50 ms of CPU, even with a document that comes for the first time', async () => {
  const kinds = Object.entries({ ...HEAVY, ...SLOW });
  planner = await busiestThread(service.stack.gateway.pid, async () => {
    for (let round = 0; round < WARMING; round += 1)
      for (const [, make] of kinds) await service.send(make(round));
  });
  const units: Record<string, number> = {};
  for (const [kind, make] of kinds) {
    const costs: number[] = [];
    // How fast a core is changes within a second.
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = calibrate();
      const spent = await cost(make(WARMING + round));
      costs.push((spent * 20) / (before + calibrate()));
    }
    units[kind] = Math.round(median(costs));
  }
  if (process.env.SHOW_COSTS) console.log(units);
  expect(Object.entries(units).filter(([, cost]) => cost > BOUND)).toEqual([]);
}, 600_000);
