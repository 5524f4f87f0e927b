// Pages of the feed, made of blocks while old ones are deleted one by one.
import { createPage } from './feed.ts';

const block = (first: number) => {
  const event = { id: `e-${first}`, type: 'YEAR_ENDED', partnerId: 'inn', occurredAt: 1 } as const;
  return { first, events: [event] };
};
const pageAfter = (after: number | undefined) => {
  const page = createPage({ after, first: 10, types: undefined }, 3);
  for (const first of [1, 3]) if (!page.add(block(first))) break;
  return page.done();
};

test('a gap after a position is what the reader has missed', () => {
  expect(pageAfter(0)).toBe('expired');
});

test('without a position, a gap between old events is only what is deleted at this time', () => {
  expect(pageAfter(undefined)).toEqual({
    events: [1, 3].map((position) => ({ position, event: block(position).events[0] })),
    end: 3,
    hasNext: false,
  });
});
