// How long the content of a page is kept.
import type { DocumentedGraph } from '@partner-loyalty/gateway/graph/served.ts';
import { onceForEach, prepare } from './prepared.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

// Cast: only its identity matters.
const graph = { version: 1, surfaces: {} } as DocumentedGraph;

test('content is made once for a graph, and again after a minute', async () => {
  let made = 0;
  const content = onceForEach(
    () => graph,
    () => prepare(`${made++}`, {}),
  );
  const first = await content();
  jest.advanceTimersByTime(59_000);
  expect(await content()).toBe(first);
  jest.advanceTimersByTime(2_000);
  await content();
  expect(made).toBe(2);
});

test('content is made for each graph', async () => {
  let made = 0;
  let current = graph;
  const content = onceForEach(
    () => current,
    () => prepare(`${made++}`, {}),
  );
  await content();
  current = { ...graph, version: 2 };
  await content();
  expect(made).toBe(2);
});
