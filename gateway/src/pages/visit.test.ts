// Whose page is made next.
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { UNSHARED } from '../../../test/support/requests/unshared.ts';
import { createMemoryCounters } from '../budget/counters.ts';
import { createLimiter } from '../budget/limiter.ts';
import { createCookies } from './forms.ts';
import { createVisit } from './visit.ts';

test('however many people one address has signed in, another one’s page is next', async () => {
  const visit = createVisit({
    limiter: createLimiter(createMemoryCounters('sandbox'), 60),
    cookies: createCookies('http://loyalty.example'),
    sessions: () => [{ cookie: 'account', personOf: async (held) => held }],
    log: { ...createLog('silent'), infoJson() {} },
  });
  const made: string[] = [];
  let inProgress = 0;
  let most = 0;
  async function page(address: string, person: number) {
    const request = {
      ...{ method: 'GET', path: '/account', search: '', address, requestId: 'r' },
      ...UNSHARED,
      headers: { cookie: `account=${`${person}`.padStart(43, '0')}` },
      signal: new AbortController().signal,
      body: async () => Buffer.alloc(0),
    };
    await visit(request, async () => {
      made.push(address);
      inProgress += 1;
      most = Math.max(most, inProgress);
      await new Promise(setImmediate);
      inProgress -= 1;
      return { status: 200, headers: {}, body: '' };
    });
  }
  const many = Array.from({ length: 50 }, (_, person) => page('198.51.100.1', person));
  await Promise.all([...many, page('203.0.113.1', 50), page('203.0.113.1', 51)]);
  expect(made).toHaveLength(52);
  expect(made.lastIndexOf('203.0.113.1')).toBeLessThan(6);
  expect(most).toBe(2);
});
