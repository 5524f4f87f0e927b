// The planner thread: an operation that it cannot plan ends neither the process nor other plans.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openGraph } from '../../../test/support/graphs/graph.ts';
import { GRAPHS } from '../../../test/support/graphs/table.ts';
import { openThreadPlanner } from './plan.apollo.ts';

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
