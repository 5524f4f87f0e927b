// The planner thread: an operation that it cannot plan ends neither the process nor other plans.
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import { buildSchema, printSchema } from 'graphql';
import { openGraph } from '../../../test/support/graphs/graph.ts';
import { GRAPHS } from '../../../test/support/graphs/table.ts';
import { SUPERGRAPH_FILE } from '../graph/committed.ts';
import { committedFacts } from './committed.ts';
import { openThreadPlanner } from './plan.apollo.ts';
import { openPlanner } from './planner.ts';

/** Apollo's planner goes round in circles for it. */
const ENDLESS = '{ last { __typename ... on User { label } } }';

test('OPERATION_TOO_COMPLEX for an operation whose planning never ends, and plans and planners for the others', async () => {
  const graph = GRAPHS['interface objects with @requires'];
  if (graph === undefined) throw new Error('the table has this graph');
  const planner = await openThreadPlanner(openGraph(graph).supergraph, undefined);
  const endless = planner.plan(ENDLESS, true);
  const behind = planner.plan('{ users { kind } }', false);
  await nextTurn(); // Now both wait in the thread.
  const opening = openThreadPlanner(openGraph(graph).supergraph, undefined);
  await expect(endless).rejects.toMatchObject({ code: 'OPERATION_TOO_COMPLEX' });
  expect((await behind).plan).toContain('users');
  expect((await planner.plan('{ users { id } }', false)).plan).toContain('users');
  const opened = await opening;
  expect((await opened.plan('{ users { id } }', false)).plan).toContain('users');
  opened.close();
  planner.close();
});

test('an operation that was not planned is planned anew the next time it is asked for', async () => {
  const graph = GRAPHS['interface objects with @requires'];
  if (graph === undefined) throw new Error('the table has this graph');
  const { supergraph } = openGraph(graph);
  const planner = await openPlanner(supergraph, undefined, createCaches());
  const refused = { code: 'OPERATION_TOO_COMPLEX' };
  await expect(planner.plan(ENDLESS)).rejects.toMatchObject(refused);
  let isPlanning = true;
  const again = Promise.resolve(planner.plan(ENDLESS)).finally(() => {
    isPlanning = false;
  });
  await nextTurn();
  expect(isPlanning).toBe(true);
  await expect(again).rejects.toMatchObject(refused);
  planner.close();
});

test.each(['partner', 'member'] as const)(
  'the facts of the committed %s surface are what the thread reports, and of another graph unknown',
  async (surface) => {
    const committed = readFileSync(SUPERGRAPH_FILE, 'utf8');
    const { plan: _, close, ...facts } = await openThreadPlanner(committed, surface);
    close();
    const known = committedFacts(committed, surface);
    const comparable = (sdl = '') => printSchema(buildSchema(sdl));
    expect({ ...known, sdl: comparable(known?.sdl) }).toEqual({
      ...facts,
      sdl: comparable(facts.sdl),
    });
    expect(committedFacts(`${committed}#`, surface)).toBeUndefined();
  },
);
