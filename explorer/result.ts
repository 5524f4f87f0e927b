// Shows a response: status and headers beside the body, and what to do about an error.
import type { EditorView } from '@codemirror/view';
import { byId, element } from './dom.ts';
import { setText } from './editor.ts';
import { hintFor } from './hints.ts';
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

/** The status and the headers of an answer, and the problem if there is one. */
export function showOutcome(answer: Answer): void {
  const { status, statusText, headers, milliseconds } = answer;
  const outcome = byId('outcome', HTMLElement);
  const code = answer.body.errors?.[0]?.extensions?.code;
  outcome.textContent = `${status} ${code ?? statusText} in ${Math.round(milliseconds)} ms`;
  outcome.dataset.failed = String(code !== undefined);
  const rows = SHOWN_HEADERS.flatMap(([name, shown]) => {
    const value = headers.get(name);
    return value === null
      ? []
      : [element('div', {}, element('dt', {}, shown), element('dd', {}, value))];
  });
  byId('headers', HTMLElement).replaceChildren(...rows);
  showProblem(hintFor(answer));
}

/** Shows the body of an answer. */
export function showBody(view: EditorView, { body }: Answer): void {
  setText(view, JSON.stringify(body, null, 2));
}

/** Shows a problem, or hides the problem if there is none. */
export function showProblem(text: string | undefined): void {
  const problem = byId('problem', HTMLElement);
  problem.textContent = text ?? '';
  problem.hidden = text === undefined;
}
