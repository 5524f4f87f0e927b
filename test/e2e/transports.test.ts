// The same cases in one process, over signed HTTP, and on MongoDB and Redis: the same bytes.

import { CASES } from '../support/cases/requests.ts';
import type { Answer } from '../support/service/client.ts';
import { type Started, startFilled } from '../support/service/deployed.ts';
import { faultsOf } from '../support/service/leaks.ts';
import { SHAPES, type Shape } from '../support/service/stack.ts';

// Object.keys forgets the names.
const NAMES = Object.keys(SHAPES) as Shape[];
const HEADERS = [
  'content-type',
  'x-request-id',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-policy',
  'allow',
  'cache-control',
];

/** By shape, in the order of the cases; each is asked twice in a row, since a document is treated otherwise once it is known. */
const answers = new Map<Shape, Answer[][]>();

beforeAll(async () => {
  for (const name of NAMES) {
    const service = await startFilled(name, { RATE_LIMIT_BUDGET: '10000' });
    try {
      answers.set(name, await askAll(service));
    } finally {
      await service.close();
    }
  }
}, 120_000);

async function askAll(service: Started): Promise<Answer[][]> {
  const all: Answer[][] = [];
  for (const [index, { ask }] of CASES.entries()) {
    const request = { ...(await ask(service)), requestId: `case-${index}` };
    const isMutation = String(request.query).startsWith('mutation');
    const given: Answer[] = [];
    for (const _ of isMutation ? [1] : [1, 2, 3]) given.push(await service.ask(request));
    all.push(given);
  }
  return all;
}

/** What the client gets, but for the seconds left in the window. */
function seen(answer: Answer | undefined) {
  return answer && [answer.status, answer.text, ...HEADERS.map((name) => answer.headers.get(name))];
}

describe.each(CASES.map(({ name }, index) => ({ name, index })))('$name', ({ index }) => {
  const [first] = NAMES;
  const reference = () => answers.get(first as Shape)?.[index];

  test.each(NAMES)('%s has the same bytes', (name) => {
    expect(answers.get(name)?.[index]?.map(seen)).toEqual(reference()?.map(seen));
  });

  test('is no fault of the service, and is the same each time', () => {
    for (const answer of reference() ?? []) {
      expect(answer.status).toBeLessThan(500);
      expect(answer.text).toBe(reference()?.[0]?.text);
      expect(faultsOf(answer.text)).toEqual([]);
    }
  });
});
