// Each thing is asked once, and its answer is at every place that asked.
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import type {
  SubgraphRequest,
  SubgraphResponse,
  Transport,
} from '@partner-loyalty/runtime/transport/types.ts';
import { openGraph } from '../../../test/support/graphs/graph.ts';
import { repeats } from '../../../test/support/graphs/repeats.ts';
import { ResponseSize } from '../document/responsesize.ts';
import { openExecutor } from './executor.ts';

type Asked = Pick<SubgraphRequest, 'query' | 'variables'> & { name: string };
type Answer = (request: SubgraphRequest, name: string) => Promise<SubgraphResponse>;

const { supergraph, transports } = openGraph(repeats);
const right: Answer = async (request, name) => (await transports[name]?.execute(request)) ?? {};

/** Runs an operation, and says what the subgraphs were asked; `answer` may answer for them. */
async function ask(query: string, answer: Answer = right) {
  const asked: Asked[] = [];
  const recorded = Object.entries(transports).map(([name, transport]): [string, Transport] => [
    name,
    {
      ...transport,
      execute(request) {
        asked.push({ name, query: request.query, variables: request.variables });
        return answer(request, name);
      },
    },
  ]);
  const executor = await openExecutor(
    undefined,
    supergraph,
    Object.fromEntries(recorded),
    createCaches(),
  );
  const { data, errors } = await executor.execute({
    key: query,
    variables: {},
    coerced: {},
    caller: { kind: 'service' },
    requestId: 'r',
    size: new ResponseSize(),
  });
  executor.close();
  return {
    asked,
    data: JSON.parse(JSON.stringify(data)),
    errors: errors.map(({ path }) => path?.join('.')).sort(),
  };
}

const representationsTo = (asked: readonly Asked[], subgraph: string) =>
  asked.flatMap(({ name, variables = {} }) =>
    name === subgraph ? Object.values(variables).filter(Array.isArray) : [],
  );

test('equal representations are one, and data and errors are at each place', async () => {
  const { asked, data, errors } = await ask('{ orders { items { sku stock } } }');
  const [representations] = representationsTo(asked, 'stock');
  expect(representations?.map(({ sku }: { sku: string }) => sku)).toEqual(['1', '2', '3']);
  expect(data.orders[0].items.map(({ stock }: { stock: number }) => stock)).toEqual([10, 20, 10]);
  expect(errors).toEqual(['orders.1.items.0.stock', 'orders.1.items.1.stock']);
});

test('the same if Apollo runs the plan', async () => {
  const { asked, data, errors } = await ask('{ any { ... on Set { items { sku fee } } } }');
  const [representations] = representationsTo(asked, 'routes');
  expect(representations?.map(({ id }: { id: string }) => id)).toEqual(['i1', 'i4']);
  expect(data.any[2].items).toEqual([
    { sku: '1', fee: 2 },
    { sku: '4', fee: null },
    { sku: '4', fee: null },
  ]);
  expect(errors).toEqual(['any.2.items.1.fee', 'any.2.items.2.fee']);
});

test('an error below what places share is at all of them', async () => {
  const { errors } = await ask(
    '{ orders { items { related { box { weight } fee } } } }',
    (request, name) =>
      name === 'shop' && request.query.includes('_entities')
        ? Promise.resolve({
            data: { _entities: [{ id: 'i4', distance: 4 }, null] },
            errors: [],
          })
        : right(request, name),
  );
  expect(errors.filter((path) => path?.endsWith('0.fee'))).toEqual([
    'orders.0.items.0.related.0.fee',
    'orders.0.items.1.related.0.fee',
    'orders.0.items.2.related.0.fee',
    'orders.1.items.0.related.0.fee',
    'orders.1.items.1.related.0.fee',
  ]);
});

test('an answer finds its place after another one has parted what was shared', async () => {
  let partIt: (() => void) | undefined;
  const parted = new Promise<void>((resolve) => {
    partIt = resolve;
  });
  let askAgain: (() => void) | undefined;
  const isAsked = new Promise<void>((resolve) => {
    askAgain = resolve;
  });
  const { data } = await ask(
    '{ orders { items { box { weight color } } } }',
    async (request, name) => {
      if (name === 'people') {
        askAgain?.();
        await parted;
      }
      if (name !== 'routes') return right(request, name);
      await isAsked;
      setImmediate(() => partIt?.());
      return right(request, name);
    },
  );
  expect(data.orders[0].items.map(({ box }: { box: unknown }) => box)).toEqual([
    { weight: 1, color: 'color 1' },
    { weight: 1, color: 'color 2' },
    { weight: 2, color: 'color 1' },
  ]);
});
