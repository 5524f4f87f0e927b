// Builds the GraphQL response to an executed operation: known error codes pass, the rest is masked.
import { ERRORS, extensionsOf } from '@partner-loyalty/runtime/errors.ts';
import type { SubgraphError } from '@partner-loyalty/runtime/transport/types.ts';
import type { ExecutionResult } from '../execute/executor.ts';
import type { PlacedError } from '../execute/places.ts';
import type { Path } from '../execute/shape.ts';

export type GraphqlResponse = {
  status: number;
  body: { errors?: ResponseError[]; data: Data };
  /** The codes of the errors, each once. */
  codes: readonly string[];
};

type Data = Record<string, unknown> | null;
type RawError = Pick<PlacedError, 'entityDepth' | 'isMasked' | 'roots' | 'subgraph'> & {
  message: string;
  path?: Path;
  extensions?: SubgraphError['extensions'];
};

/**
 * `responseKeys` are those of the document. An error's path ends before any other key, so that it
 * never names a field that only the query plan selects. `onMasked` receives the path of the first
 * masked error, and how many there are.
 */
export function buildResponse(
  { data, errors: raised, nullViolations }: ExecutionResult,
  responseKeys: ReadonlySet<string>,
  requestId: string,
  onMasked: (path: Path, count: number) => void,
): GraphqlResponse {
  if (raised.length === 0 && nullViolations.length === 0)
    return { status: 200, body: { data }, codes: [] };
  const unexplained = unexplainedBy(raised, nullViolations);
  const all: RawError[] = [
    ...raised,
    ...unexplained.map((path) => ({ message: 'a value is missing', path })),
  ];
  const masked = raised.flatMap(({ isMasked, path = [] }) => (isMasked ? [path] : []));
  const [first] = [...unexplained, ...masked];
  if (first !== undefined) onMasked(first, unexplained.length + masked.length);
  const roots = all.every(hasPath) ? [] : unexplainedRoots(data, all);
  const errors = all.flatMap((error) => {
    const { message, extensions: known } = mask(error);
    const { code, ...details } = known;
    const extensions = extensionsOf(code, requestId, details);
    const { path = [], roots: own = roots, subgraph } = error;
    const rest = { extensions, subgraph };
    if (path.length > 0) return [{ message, path: visiblePath(path, responseKeys), ...rest }];
    const about = roots.filter((root) => own.includes(root));
    if (about.length === 0) return [{ message, ...rest }];
    return about.map((root) => ({ message, path: [root], ...rest }));
  });
  const ordered = errors.length === 1 ? errors : inDocumentOrder(errors, data, responseKeys);
  const sorted = boundedErrors(ordered);
  return {
    status: statusOf(data, sorted),
    body: { errors: sorted, data },
    codes: [...new Set(sorted.map(({ extensions }) => extensions.code))],
  };
}

function hasPath({ path = [] }: RawError): boolean {
  return path.length > 0;
}

function mask({
  message,
  extensions,
}: RawError): Required<Pick<RawError, 'message' | 'extensions'>> {
  if (extensions !== undefined) return { message: shortMessage(message), extensions };
  const code = 'INTERNAL_SERVER_ERROR';
  return { message: ERRORS[code].message, extensions: { code } };
}

/** Compares the paths below one root field only: there may be thousands of errors. */
function unexplainedBy(raised: readonly RawError[], violations: readonly Path[]): Path[] {
  if (raised.some((error) => !hasPath(error) && error.roots === undefined)) return [];
  const without = new Set(raised.flatMap((error) => (hasPath(error) ? [] : (error.roots ?? []))));
  const byRoot = new Map<unknown, RawError[]>();
  for (const error of raised) {
    const root = error.path?.[0];
    const errors = byRoot.get(root) ?? [];
    errors.push(error);
    byRoot.set(root, errors);
  }
  return violations.filter((path) => {
    if (without.has(String(path[0]))) return false;
    const errors = path.length === 0 ? raised : byRoot.get(path[0]);
    return !errors?.some((error) => explains(error, path));
  });
}

/** Whether a null is because of an error: at its place, or in an entity that is null as a whole. */
function explains({ path = [], entityDepth }: RawError, missing: Path): boolean {
  if (overlaps(path, missing)) return true;
  if (entityDepth === undefined || entityDepth > missing.length) return false;
  return overlaps(missing, path.slice(0, entityDepth));
}

/** Whether the paths are equal or one contains the other. */
function overlaps(one: Path, other: Path): boolean {
  const length = Math.min(one.length, other.length);
  for (let depth = 0; depth < length; depth += 1) if (one[depth] !== other[depth]) return false;
  return true;
}

/** The root fields that are null without an error of their own. */
function unexplainedRoots(data: Data, errors: readonly RawError[]): string[] {
  const explained = new Set(errors.map(({ path }) => path?.[0]));
  return Object.entries(data ?? {}).flatMap(([name, value]) =>
    value === null && !explained.has(name) ? [name] : [],
  );
}

function visiblePath(path: Path, responseKeys: ReadonlySet<string>): (string | number)[] {
  const end = path.findIndex((step) => typeof step === 'string' && !responseKeys.has(step));
  return end === -1 ? [...path] : path.slice(0, end);
}

/** Subgraphs respond in any order; the caller gets the errors in the order of the document. */
function inDocumentOrder(
  errors: readonly OwnedError[],
  data: Data,
  responseKeys: ReadonlySet<string>,
): OwnedError[] {
  const roots = Object.keys(data ?? {});
  const places = new Map(Array.from(responseKeys, (key, place) => [key, place]));
  const placeOf = (step: string | number, depth: number) =>
    typeof step === 'number' ? step : depth === 0 ? roots.indexOf(step) : (places.get(step) ?? -1);
  return errors
    .map((error) => ({ error, positions: (error.path ?? []).map(placeOf) }))
    .sort((one, other) => comparePositions(one.positions, other.positions))
    .map(({ error }) => error);
}

function comparePositions(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((position, depth) => position !== other[depth]);
  return index === -1 ? one.length - other.length : (one[index] ?? 0) - (other[index] ?? -1);
}

/**
 * 503 or 500 if every root field is null for that reason; 200 for a partial response
 * (docs/callers/errors.md).
 */
function statusOf(data: Data, errors: readonly ResponseError[]): number {
  const codes = Object.entries(data ?? {}).map(([name, value]) =>
    value === null ? errors.find(({ path }) => path?.[0] === name)?.extensions.code : undefined,
  );
  const reasons = codes.length === 0 ? errors.map(({ extensions }) => extensions.code) : codes;
  for (const code of ['INTERNAL_SERVER_ERROR', 'SERVICE_UNAVAILABLE'] as const)
    if (reasons.every((reason) => reason === code)) return ERRORS[code].status;
  return 200;
}

/** How many errors a caller gets in addition to the first ones. */
const MAX_FURTHER_ERRORS = 5;

/** In characters; graphql-js quotes documents and variables in its messages. */
const MAX_MESSAGE = 300;

type ResponseError = {
  message: string;
  locations?: unknown;
  path?: (string | number)[];
  extensions: ReturnType<typeof extensionsOf>;
};
/** Callers do not see the name of the subgraph. */
type OwnedError = ResponseError & Pick<PlacedError, 'subgraph'>;

/** A message, cut to its first 300 characters. */
export function shortMessage(message: string): string {
  return message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 1)}…`;
}

/** The first error of each root field from each subgraph, and up to 5 more, in their order. */
function boundedErrors(errors: readonly OwnedError[]): ResponseError[] {
  const firsts = new Set<string>();
  let further = 0;
  return errors.flatMap(({ subgraph, ...error }) => {
    const { size } = firsts;
    if (size < firsts.add(`${error.path?.[0]} ${subgraph}`).size) return [error];
    further += 1;
    return further <= MAX_FURTHER_ERRORS ? [error] : [];
  });
}
