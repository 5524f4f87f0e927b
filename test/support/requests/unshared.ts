// The part of a request by which owners share the service, for tests without a server.
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';

/** Nothing ever waits. */
export const UNSHARED: Pick<HttpRequest, 'admit' | 'turn' | 'reserve'> = {
  admit: () => undefined,
  turn: () => undefined,
  reserve: () => undefined,
};
