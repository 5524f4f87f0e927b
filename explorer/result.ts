// Shows a response: status and headers above the body, and what to do about an error.
import type { EditorView } from '@codemirror/view';
import { byId, element } from './copy.ts';
import { setText } from './editor.ts';
import type { GraphqlError, TimedResponse } from './send.ts';

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
 * Shows that an operation runs, in place of the last response. Where the result is below the
 * operation, as on a phone, the page moves to it.
 */
export function showRunning(view: EditorView): void {
  clearResponse(view);
  showStatus('Running…', false);
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

type Hint = (error: GraphqlError, response: TimedResponse) => string;

const NOT_VALID =
  'This key or token is not valid: it is incomplete, revoked or expired, or it is not for your network address. Check that it is copied whole, or ask for a new one.';

const HINTS: Record<string, Hint> = {
  UNAUTHENTICATED: (_, { hasCredential }) => (hasCredential ? NOT_VALID : PROBLEMS.noCredential),
  // The explorer introspects only with a key, so it is the key that is wrong.
  INTROSPECTION_DISABLED: () => NOT_VALID,
  KEY_ENVIRONMENT_MISMATCH: ({ extensions }) =>
    `This key belongs to the other environment: ${extensions?.correctEndpoint ?? 'use its endpoint'}.`,
  PARTNER_SUSPENDED: () => 'This partner is suspended. Please contact us.',
  // The message of the error names the scope.
  FORBIDDEN: ({ message }) =>
    `This key or token may not do that: ${message ?? ''}. A key needs the scope of each field, and “read” for the schema.`,
  RATE_LIMITED: (_, { headers }) =>
    `The budget is used up. It is full again in ${headers.get('retry-after') ?? 'some'} seconds.`,
  SERVICE_UNAVAILABLE: () => 'A part of the service is not available. Try again in a moment.',
  INTERNAL_SERVER_ERROR: () =>
    'Something went wrong on our side. Report it with the x-request-id of the response.',
};

/** Undefined if the message of the error says enough. */
export function hintFor(response: TimedResponse): string | undefined {
  const [error] = response.body.errors ?? [];
  const hint = HINTS[error?.extensions?.code ?? ''];
  return error && hint?.(error, response);
}

/** What is said of problems that no response has. */
export const PROBLEMS = {
  noCredential: 'Paste a partner key (pk_…) or an ID token.',
  mcpKey:
    'This is an MCP key (mk_…): it works only at /mcp. Paste a partner key (pk_…) or an ID token.',
  notAnObject: 'The variables must be one JSON object. Nothing was sent.',
  notJson: 'The variables are not JSON.',
  linkTooLong: 'This link is too long, or has too many brackets. It was not opened.',
  tooLongToLink: 'This is too long for a link. Copy it as curl instead.',
  hasCredential: 'This contains your key or token, which others would get. Take it out first.',
  timedOut:
    'There is no response: the fault “timeout” is chosen, with which the service keeps quiet.',
  noResponse: 'The service did not respond. Check your connection and try again.',
};

type About = 'key' | 'operation' | 'run';

/** Shows a problem beside what it is about, or takes it away. */
export function showProblem(about: About, text: string | undefined): void {
  const notice = byId(`${about}-problem`, HTMLElement);
  notice.textContent = text ?? '';
  notice.hidden = text === undefined;
  if (text !== undefined) notice.scrollIntoView({ block: 'nearest' });
}
