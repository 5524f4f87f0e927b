// The log line of a page.

import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { ResponseObserver } from '@partner-loyalty/runtime/http/response.ts';
import { jsonFields, type Log } from '@partner-loyalty/runtime/observe/log.ts';

/** Logs the request when the page is sent, without what may be secret: its query and its form. */
export function pageObserver(
  path: string,
  { requestId, method }: HttpRequest,
  status: number,
  startedAt: number,
  log: Pick<Log, 'infoJson'>,
): ResponseObserver {
  return {
    ended(bytes, isWhole) {
      const durationMs = Math.round((performance.now() - startedAt) * 1_000) / 1_000;
      const ending = isWhole ? { bytes } : { reason: 'the client closed the connection' };
      const fields = { requestId, path, method, status, ...ending, durationMs };
      log.infoJson(jsonFields(fields), 'page');
    },
  };
}
