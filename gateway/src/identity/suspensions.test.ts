// Whether a token's partner is suspended: found by one read for all requests of a few seconds.
import { createCaches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { Partner } from './keystore.ts';
import { createSuspensions } from './suspensions.ts';

const AT = new Date('2026-03-04T05:06:07Z');

function setUp() {
  const partners = new Map<string, Partner>();
  const source = { reads: 0, fails: false };
  let time = 0;
  const isSuspended = createSuspensions(
    {
      async partner(partnerId) {
        source.reads += 1;
        if (source.fails) throw new Error('connection refused');
        return partners.get(partnerId);
      },
    },
    createCaches(),
    { outage() {} },
    () => time,
  );
  const put = (suspendedAt?: Date) =>
    partners.set('inn', { partnerId: 'inn', name: 'Inn', createdAt: AT, suspendedAt });
  const pass = (ms: number) => {
    time += ms;
  };
  return { isSuspended, put, source, pass };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a thousand requests cost one read, and a suspension shows within 5 seconds', async () => {
  const { isSuspended, put, source, pass } = setUp();
  put();
  expect(await isSuspended('inn')).toBe(false);
  for (let n = 0; n < 1_000; n += 1) expect(isSuspended('inn')).toBe(false);
  expect(source.reads).toBe(1);

  put(AT);
  pass(5_000);
  expect(await isSuspended('inn')).toBe(true);
  put();
  pass(2_500);
  expect(isSuspended('inn')).toBe(true);
  await settled();
  expect(isSuspended('inn')).toBe(false);
  expect(source.reads).toBe(3);
});

test('a partner that does not exist is not suspended, and is not read each time', async () => {
  const { isSuspended, source } = setUp();
  expect(await isSuspended('nobody')).toBe(false);
  expect(isSuspended('nobody')).toBe(false);
  expect(source.reads).toBe(1);
});

test('while the store is away, what was read in the last 60 seconds counts, and nothing else', async () => {
  const { isSuspended, put, source, pass } = setUp();
  put(AT);
  await isSuspended('inn');
  source.fails = true;
  pass(59_000);
  expect(await isSuspended('inn')).toBe(true);
  pass(1_000);
  await expect(isSuspended('inn')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  await expect(isSuspended('spa')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});
