// Every deployment answers the same requests with the same bytes.

import { REQUESTS } from '../support/cases/requests.ts';
import type { ApiResponse } from '../support/service/client.ts';
import { type DeployedService, startDeployed } from '../support/service/deployed.ts';
import { leaksIn } from '../support/service/leaks.ts';
import { DEPLOYMENT_NAMES, type Deployment } from '../support/service/stack.ts';

const HEADERS = [
  'content-type',
  'x-request-id',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-policy',
  'allow',
  'cache-control',
];

/**
 * By deployment and request. Queries are sent three times, since cached documents take another
 * path.
 */
const responses = new Map<Deployment, ApiResponse[][]>();

beforeAll(async () => {
  for (const name of DEPLOYMENT_NAMES) {
    const service = await startDeployed(name, { RATE_LIMIT_BUDGET: '10000' });
    try {
      responses.set(name, await sendAll(service));
    } finally {
      await service.close();
    }
  }
}, 120_000);

async function sendAll(service: DeployedService): Promise<ApiResponse[][]> {
  const all: ApiResponse[][] = [];
  for (const [index, { request }] of REQUESTS.entries()) {
    const sent = { ...(await request(service)), requestId: `case-${index}` };
    const isMutation = String(sent.query).startsWith('mutation');
    const received: ApiResponse[] = [];
    for (const _ of isMutation ? [1] : [1, 2, 3]) received.push(await service.send(sent));
    all.push(received);
  }
  return all;
}

/** What the client receives, except the seconds left in the window. */
function visible({ status, text, headers }: ApiResponse) {
  return [status, text, ...HEADERS.map((name) => headers.get(name))];
}

describe.each(REQUESTS.map(({ name }, index) => ({ name, index })))('$name', ({ index }) => {
  const [first] = DEPLOYMENT_NAMES;
  const reference = () => first && responses.get(first)?.[index];

  test.each(DEPLOYMENT_NAMES)('has the same bytes with %s', (name) => {
    expect(reference()).toBeDefined();
    expect(responses.get(name)?.[index]?.map(visible)).toEqual(reference()?.map(visible));
  });

  test('is no server error, and is the same each time', () => {
    for (const response of reference() ?? []) {
      expect(response.status).toBeLessThan(500);
      expect(response.text).toBe(reference()?.[0]?.text);
      expect(leaksIn(response.text)).toEqual([]);
    }
  });
});
