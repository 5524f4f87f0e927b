// Which errors have a stack, and which say when to try again.
import { ApiError, ERRORS, type ErrorCode, extensionsOf } from './errors.ts';

// Cast: the keys of an object that is typed with these keys.
const CODES = Object.keys(ERRORS) as ErrorCode[];

test.each(CODES)('%s has a stack only if it is the service’s own fault', (code) => {
  const limit = Error.stackTraceLimit;
  const { stack } = new ApiError(code, 'as told');
  expect(stack?.startsWith('Error: as told')).toBe(true);
  expect(stack?.includes('errors.test')).toBe(ERRORS[code].status >= 500);
  expect(Error.stackTraceLimit).toBe(limit);
});

test('errors that pass say in how many seconds, and no others', () => {
  const passing = CODES.filter(
    (code) => 'retryAfter' in extensionsOf(code, 'r', { retryAfter: 7 }),
  );
  expect(passing).toEqual(['RATE_LIMITED', 'SERVICE_UNAVAILABLE']);
  for (const code of passing) {
    expect(extensionsOf(code, 'r')).toEqual({ code, requestId: 'r', retryAfter: 1 });
    expect(extensionsOf(code, 'r', { retryAfter: 60 }).retryAfter).toBe(60);
  }
});
