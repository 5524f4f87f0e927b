// Shows a response: status and headers above the body, and what to do about an error.
import type { EditorView } from '@codemirror/view';
import { byId, element } from './dom.ts';
import { setText } from './editor.ts';
import { hintFor } from './hints.ts';
import { showProblem } from './problem.ts';
import type { Answer } from './send.ts';

const SHOWN_HEADERS = [
  ['ratelimit-limit', 'RateLimit-Limit'],
  ['ratelimit-remaining', 'RateLimit-Remaining'],
  ['ratelimit-reset', 'RateLimit-Reset'],
  ['retry-after', 'Retry-After'],
  ['deprecation', 'Deprecation'],
  ['sunset', 'Sunset'],
  ['x-request-id', 'x-request-id'],
] as const;

/** The status of an answer, or the code of its first error, and how long it took. */
export function statusOf({ status, statusText, milliseconds, body }: Answer): string {
  return `${status} ${codeIn(body) ?? statusText} in ${Math.round(milliseconds)} ms`;
}

/** Shows the status, the headers and the body of an answer, and the problem if there is one. */
export function showAnswer(view: EditorView, answer: Answer): void {
  const rows = SHOWN_HEADERS.flatMap(([name, shown]) => {
    const value = answer.headers.get(name);
    return value === null
      ? []
      : [element('div', {}, element('dt', {}, shown), element('dd', {}, value))];
  });
  setText(view, JSON.stringify(answer.body, null, 2));
  showStatus(statusOf(answer), codeIn(answer.body) !== undefined);
  byId('headers', HTMLElement).replaceChildren(...rows);
  showProblem('run', hintFor(answer));
}

/** Takes the last answer away, so that nobody reads it as that of the operation at hand. */
export function clearAnswer(view: EditorView, status = ''): void {
  setText(view, '');
  showStatus(status, status !== '');
  byId('headers', HTMLElement).replaceChildren();
}

/** That an operation runs. The last body stays until the next one comes, so nothing flickers. */
export function showRunning(): void {
  showStatus('Running…', false);
  byId('headers', HTMLElement).replaceChildren();
}

function showStatus(text: string, isFailed: boolean): void {
  const outcome = byId('outcome', HTMLElement);
  outcome.textContent = text;
  outcome.dataset.failed = String(isFailed);
}

function codeIn({ errors }: Answer['body']): string | undefined {
  return errors?.[0]?.extensions?.code;
}
