// The log line of a page.
import {
  type HttpRequest,
  jsonFields,
  type Log,
  type ReplyObserver,
} from '@partner-loyalty/runtime';

/** Logs the request when the page is sent, without what may be secret: its query and its form. */
export function pageObserver(
  path: string,
  { requestId, method }: HttpRequest,
  status: number,
  startedAt: number,
  log: Pick<Log, 'infoJson'>,
): ReplyObserver {
  return {
    ended(bytes, isWhole) {
      const durationMs = Math.round((performance.now() - startedAt) * 1_000) / 1_000;
      const ending = isWhole ? { bytes } : { reason: 'the client closed the connection' };
      const fields = { requestId, path, method, status, ...ending, durationMs };
      log.infoJson(jsonFields(fields), 'page');
    },
  };
}
