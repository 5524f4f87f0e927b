// Every row of the contract's error table through the front, each named after its outcome.
import { ERRORS, type ErrorCode } from '@partner-loyalty/runtime';
import { OUTCOMES } from '../support/cases/outcomes.ts';
import { BUDGET_HEADERS, budgetHeaders } from '../support/service/client.ts';
import { type Stage, startInProcess } from '../support/service/inprocess.ts';
import { faultsOf } from '../support/service/leaks.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await startInProcess({
    env: { RATE_LIMIT_BUDGET: '100000', TRUSTED_PROXIES: '127.0.0.1' },
  });
});
afterAll(() => stage.close());

for (const [code, outcomes] of Object.entries(OUTCOMES)) {
  describe(`${ERRORS[code as ErrorCode].status} ${code}`, () => {
    test.each(outcomes)(
      '$name',
      async ({ ask, status = ERRORS[code as ErrorCode].status, held = true, also }) => {
        const answer = await stage.ask({ requestId: 'the.callers_own-id', ...(await ask(stage)) });
        expect([answer.status, answer.code]).toEqual([status, code]);
        expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
        expect([
          answer.headers.get('cache-control'),
          answer.headers.get('x-content-type-options'),
        ]).toEqual(['no-store', 'nosniff']);
        expect(answer.headers.get('x-request-id')).toBe('the.callers_own-id');
        for (const { message, extensions } of answer.body.errors ?? []) {
          expect(message).toMatch(/./);
          expect(extensions.requestId).toBe('the.callers_own-id');
        }
        expect(budgetHeaders(answer)).toEqual(held ? BUDGET_HEADERS : []);
        expect(answer.headers.has('retry-after')).toBe(code === 'RATE_LIMITED');
        expect(faultsOf(answer.text)).toEqual([]);
        also?.(answer);
      },
    );
  });
}
test('401 is one and the same answer, whatever is wrong with the credential', async () => {
  const answers = [];
  for (const { ask } of OUTCOMES.UNAUTHENTICATED) {
    const { status, text } = await stage.ask({ requestId: 'r', ...(await ask(stage)) });
    answers.push(`${status} ${text}`);
  }
  expect(new Set(answers).size).toBe(1);
});
