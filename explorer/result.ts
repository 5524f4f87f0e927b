// Shows a response: status and headers above the body, and what to do about an error.
import type { EditorView } from '@codemirror/view';
import { byId, element } from './copy.ts';
import { setText } from './editor.ts';
import { hintFor, showProblem } from './hints.ts';
import type { TimedResponse } from './send.ts';

const SHOWN_HEADERS = [
  ['ratelimit-limit', 'RateLimit-Limit'],
  ['ratelimit-remaining', 'RateLimit-Remaining'],
  ['ratelimit-reset', 'RateLimit-Reset'],
  ['retry-after', 'Retry-After'],
  ['deprecation', 'Deprecation'],
  ['sunset', 'Sunset'],
  ['x-request-id', 'x-request-id'],
] as const;

/** The status of a response, or the code of its first error, and how long it took. */
export function statusOf({ status, statusText, milliseconds, body }: TimedResponse): string {
  return `${status} ${codeIn(body) ?? statusText} in ${Math.round(milliseconds)} ms`;
}

/** Shows the status, the headers and the body of a response, and the problem if there is one. */
export function showResponse(view: EditorView, response: TimedResponse): void {
  const rows = SHOWN_HEADERS.flatMap(([name, shown]) => {
    const value = response.headers.get(name);
    return value === null
      ? []
      : [element('div', {}, element('dt', {}, shown), element('dd', {}, value))];
  });
  setText(view, JSON.stringify(response.body, null, 2));
  showStatus(statusOf(response), codeIn(response.body) !== undefined);
  byId('headers', HTMLElement).replaceChildren(...rows);
  showProblem('run', hintFor(response));
}

/** Takes the last response away, so that nobody reads it as that of the operation at hand. */
export function clearResponse(view: EditorView, status = ''): void {
  showProblem('run', undefined);
  setText(view, '');
  showStatus(status, status !== '');
  byId('headers', HTMLElement).replaceChildren();
}

/**
 * Shows that an operation runs. The last body stays until the next one comes, so nothing flickers.
 * Where the result is below the operation, as on a phone, the page moves to it.
 */
export function showRunning(): void {
  showStatus('Running…', false);
  byId('headers', HTMLElement).replaceChildren();
  const result = byId('result', HTMLElement);
  if (result.getBoundingClientRect().top > innerHeight / 2) result.scrollIntoView();
}

function showStatus(text: string, isFailed: boolean): void {
  const outcome = byId('outcome', HTMLElement);
  outcome.textContent = text;
  outcome.dataset.failed = String(isFailed);
}

function codeIn({ errors }: TimedResponse['body']): string | undefined {
  return errors?.[0]?.extensions?.code;
}
