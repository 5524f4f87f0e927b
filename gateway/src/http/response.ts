// Turns what an executor gave into what the caller gets: known codes pass, anything else is masked, and the status follows from both.
import { ERRORS, type ErrorCode, isErrorCode } from '@partner-loyalty/runtime';
import type { ExecutionResult } from '../surface/executor.ts';
import type { Path } from '../surface/shape.ts';

export type AnswerError = {
  message: string;
  path?: (string | number)[];
  extensions: { code: ErrorCode; requestId: string };
};

export type Answer = {
  status: number;
  body: { errors?: AnswerError[]; data: Record<string, unknown> | null };
  code?: ErrorCode;
};

/**
 * The answer to an executed operation. `names` are the response names of the document: a path never goes beyond them, so that fields
 * the gateway asked on its own account stay unnamed. `unforeseen` is told what gets masked.
 */
export function answerOf(
  result: ExecutionResult,
  names: ReadonlySet<string>,
  requestId: string,
  unforeseen: (what: unknown) => void,
): Answer {
  const { data, errors: told, nullViolations } = result;
  if (told.length === 0 && nullViolations.length === 0) return { status: 200, body: { data } };
  const raw: RawError[] = [
    ...told,
    ...nullViolations
      .filter((path) => !told.some((error) => overlaps(error.path ?? [], path)))
      .map(unexplained),
  ];
  const masked = raw.flatMap((error) =>
    mask(error, rootsWithoutReason(data, raw), names, requestId, unforeseen),
  );
  if (masked.length === 0) return { status: 200, body: { data } };
  const errors = masked.length === 1 ? masked : asAsked(masked, data, names);
  return {
    status: statusOf(data, errors),
    body: { errors, data },
    code: errors[0]?.extensions.code,
  };
}

// A subgraph that gave null where the schema promises a value, without an error that says why, has broken its promise.
function unexplained(path: Path): RawError {
  return { message: 'a value is missing', path };
}

function overlaps(one: Path, other: Path): boolean {
  return one.slice(0, other.length).every((step, depth) => step === other[depth]);
}

// Stores and transports answer in any order; the caller reads the errors in the order of the document.
function asAsked(
  errors: readonly AnswerError[],
  data: Answer['body']['data'],
  names: ReadonlySet<string>,
): AnswerError[] {
  const roots = Object.keys(data ?? {});
  const order = [...names];
  const place = (step: string | number, depth: number) =>
    typeof step === 'number' ? step : depth === 0 ? roots.indexOf(step) : order.indexOf(step);
  const placed = errors.map((error) => ({ error, places: (error.path ?? []).map(place) }));
  return placed.sort((one, other) => compare(one.places, other.places)).map(({ error }) => error);
}

function compare(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((place, depth) => place !== other[depth]);
  return index === -1 ? one.length - other.length : (one[index] ?? 0) - (other[index] ?? -1);
}

type RawError = { message: string; path?: Path; extensions?: { code: ErrorCode } };

function mask(
  error: RawError,
  orphans: readonly string[],
  names: ReadonlySet<string>,
  requestId: string,
  unforeseen: (what: unknown) => void,
): AnswerError[] {
  const known = error.extensions?.code;
  const code = isErrorCode(known) ? known : 'INTERNAL_SERVER_ERROR';
  if (!isErrorCode(known)) unforeseen(error);
  const message = isErrorCode(known) ? error.message : ERRORS[code].message;
  const extensions = { code, requestId };
  if (error.path !== undefined && error.path.length > 0)
    return [{ message, path: visiblePath(error.path, names), extensions }];
  return orphans.length === 0
    ? [{ message, extensions }]
    : orphans.map((root) => ({ message, path: [root], extensions }));
}

// An outage of a whole fetch has no path: it is the reason for every root field that is null without a reason of its own.
function rootsWithoutReason(data: Answer['body']['data'], errors: readonly RawError[]): string[] {
  const explained = new Set(errors.map(({ path }) => path?.[0]));
  return Object.entries(data ?? {}).flatMap(([name, value]) =>
    value === null && !explained.has(name) ? [name] : [],
  );
}

function visiblePath(
  path: readonly (string | number)[],
  names: ReadonlySet<string>,
): (string | number)[] {
  const end = path.findIndex((step) => typeof step === 'string' && !names.has(step));
  return end === -1 ? [...path] : path.slice(0, end);
}

// 503 and 500 only where nothing was answered for that reason; a partial answer is a 200 (contract, section 1).
function statusOf(data: Answer['body']['data'], errors: readonly AnswerError[]): number {
  const roots = Object.entries(data ?? {});
  const codes = roots.map(([name, value]) =>
    value === null ? errors.find(({ path }) => path?.[0] === name)?.extensions.code : undefined,
  );
  for (const code of ['INTERNAL_SERVER_ERROR', 'SERVICE_UNAVAILABLE'] as const) {
    const throughout =
      roots.length === 0
        ? errors.every(({ extensions }) => extensions.code === code)
        : codes.every((each) => each === code);
    if (throughout) return ERRORS[code].status;
  }
  return 200;
}
