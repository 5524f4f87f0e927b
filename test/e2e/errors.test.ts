// Every error code over HTTP, with the requests that lead to it.
import { ERRORS, type ErrorCode } from '@partner-loyalty/runtime/errors.ts';
import { OUTCOMES } from '../support/cases/outcomes.ts';
import { BUDGET_HEADERS, budgetHeaders } from '../support/service/client.ts';
import { type InProcessService, startInProcess } from '../support/service/inprocess.ts';
import { leaksIn } from '../support/service/leaks.ts';

let service: InProcessService;

beforeAll(async () => {
  service = await startInProcess({
    env: { RATE_LIMIT_BUDGET: '100000', TRUSTED_PROXIES: '127.0.0.1' },
  });
});
afterAll(() => service.close());

for (const [code, outcomes] of Object.entries(OUTCOMES)) {
  describe(`${ERRORS[code as ErrorCode].status} ${code}`, () => {
    test.each(outcomes)(
      '$name',
      async ({ request, status = ERRORS[code as ErrorCode].status, hasBudget = true, check }) => {
        const response = await service.send({
          requestId: 'the.callers_own-id',
          ...(await request(service)),
        });
        expect([response.status, response.code]).toEqual([status, code]);
        expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
        expect([
          response.headers.get('cache-control'),
          response.headers.get('x-content-type-options'),
        ]).toEqual(['no-store', 'nosniff']);
        expect(response.headers.get('x-request-id')).toBe('the.callers_own-id');
        for (const { message, extensions } of response.body.errors ?? []) {
          expect(message).toMatch(/./);
          expect(extensions.requestId).toBe('the.callers_own-id');
        }
        expect(budgetHeaders(response)).toEqual(hasBudget ? BUDGET_HEADERS : []);
        expect(response.headers.has('retry-after')).toBe(code === 'RATE_LIMITED');
        expect(leaksIn(response.text)).toEqual([]);
        check?.(response);
      },
    );
  });
}

test('401 is the same response, whatever is wrong with the credential', async () => {
  const responses = [];
  for (const { request } of OUTCOMES.UNAUTHENTICATED) {
    const { status, text } = await service.send({ requestId: 'r', ...(await request(service)) });
    responses.push(`${status} ${text}`);
  }
  expect(new Set(responses).size).toBe(1);
});
