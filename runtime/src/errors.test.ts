// Which errors have a stack.
import { ApiError, ERRORS, type ErrorCode } from './errors.ts';

// Cast: the keys of an object that is typed with these keys.
const CODES = Object.keys(ERRORS) as ErrorCode[];

test.each(CODES)('%s has a stack only if it is the service’s own fault', (code) => {
  const limit = Error.stackTraceLimit;
  const { stack } = new ApiError(code, 'as told');
  expect(stack?.startsWith('Error: as told')).toBe(true);
  expect(stack?.includes('errors.test')).toBe(ERRORS[code].status >= 500);
  expect(Error.stackTraceLimit).toBe(limit);
});
