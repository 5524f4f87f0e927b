// Reads the response of a subgraph in another process, which may contain anything.
import { detailsIn, ERRORS, isSubgraphCode } from '../errors.ts';
import { isJsonObject, withoutAltering } from '../input.ts';
import type { Log } from '../observe/log.ts';
import { isBuiltIn } from '../settings/subgraphs.ts';
import { createAsked } from './asked.ts';
import type { FieldNames } from './fieldnames.ts';
import type { SubgraphError, SubgraphRequest, SubgraphResponse } from './types.ts';

/**
 * What a GraphQL response says, or undefined if the response is malformed or has other entities
 * than the operation asks for. The response has no error that callers must not see, and of a team's
 * subgraph no data or path that was not asked for, which could be another subgraph's.
 */
export type ReadResponse = (
  response: unknown,
  request: SubgraphRequest,
) => SubgraphResponse | undefined;

/** A response can hold many errors; callers see only the first few of each root field. */
const MAX_ERRORS = { perRoot: 100, total: 1_000 };
/** No field has a longer path, since documents are at most 15 deep, nor a longer name. */
const MAX_STEPS = 100;
const MAX_STEP = 256;

/** An error whose code is not in `codes` is masked and logged with the field that it is about. */
export function createResponseReader({
  name,
  codes,
  fieldNames,
  log,
}: {
  name: string;
  codes: readonly string[];
  fieldNames: FieldNames;
  log: Pick<Log, 'warn'>;
}): ReadResponse {
  const passing = new Set(codes.filter(isSubgraphCode));
  const asked = isBuiltIn(name) ? undefined : createAsked();

  function readErrors(errors: readonly unknown[], request: SubgraphRequest): SubgraphError[] {
    const read: SubgraphError[] = [];
    const perRoot = new Map<unknown, number>();
    let masked: unknown;
    let count = 0;
    for (const error of errors) {
      if (read.length >= MAX_ERRORS.total) break;
      const own = pathOf(error);
      const path = own && asked ? asked.pathOf(own, request.query) : own;
      const root = path?.[0];
      const known = perRoot.get(root) ?? 0;
      if (known >= MAX_ERRORS.perRoot) continue;
      perRoot.set(root, known + 1);
      const result = readError(error, path, passing);
      read.push(result);
      if (result.extensions.code !== 'INTERNAL_SERVER_ERROR') continue;
      masked ??= error;
      count += 1;
    }
    if (count > 0) {
      const { requestId, query } = request;
      const field = fieldNames(query, pathOf(masked));
      const code = loggedCode(masked);
      log.warn({ requestId, subgraph: name, field, code, count }, 'a subgraph failed an operation');
    }
    return read;
  }

  return (response, request) => {
    if (!isJsonObject(response)) return undefined;
    const { data } = response;
    // Some libraries write null if there are none.
    const errors = response.errors ?? undefined;
    if (data !== undefined && data !== null && !isJsonObject(data)) return undefined;
    if (errors !== undefined && !Array.isArray(errors)) return undefined;
    const isFailed = errors !== undefined && errors.length > 0;
    if (!isFailed && !isJsonObject(data)) return undefined;
    const { entityTypes } = request;
    if (
      entityTypes !== undefined &&
      isJsonObject(data) &&
      !areEntities(data._entities, entityTypes)
    )
      return undefined;
    const kept = data && asked ? asked.dataOf(data, request.query) : data;
    return isFailed ? { data: kept, errors: readErrors(errors, request) } : { data: kept };
  };
}

/** Whether there is one entity for each type, and none of another type. */
export function areEntities(
  entities: unknown,
  types: readonly unknown[],
): entities is readonly unknown[] {
  return (
    Array.isArray(entities) &&
    entities.length === types.length &&
    entities.every((entity: unknown, place) => isEntity(entity, types[place]))
  );
}

function isEntity(entity: unknown, type: unknown): boolean {
  if (entity === null) return true;
  if (!isJsonObject(entity)) return false;
  const { __typename } = entity;
  return type === undefined || __typename === undefined || __typename === type;
}

/** An error as callers see it. A malformed one becomes INTERNAL_SERVER_ERROR. */
function readError(
  error: unknown,
  path: (string | number)[] | undefined,
  passing: ReadonlySet<string>,
): SubgraphError {
  const placed = path === undefined ? {} : { path };
  const code = codeOf(error);
  if (code !== undefined && passing.has(code) && isJsonObject(error)) {
    const { message, extensions } = error;
    const details = isJsonObject(extensions) ? detailsIn(extensions) : {};
    if (typeof message === 'string')
      return { message: withoutAltering(message), ...placed, extensions: { code, ...details } };
  }
  const own = code === 'SERVICE_UNAVAILABLE' ? code : 'INTERNAL_SERVER_ERROR';
  return { message: ERRORS[own].message, ...placed, extensions: { code: own } };
}

function codeOf(error: unknown): string | undefined {
  if (!isJsonObject(error) || !isJsonObject(error.extensions)) return undefined;
  const { code } = error.extensions;
  return typeof code === 'string' ? code : undefined;
}

/** The code, unless it does not look like one: then it may contain anything. */
function loggedCode(error: unknown): string | undefined {
  const code = codeOf(error);
  return code !== undefined && /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? code : undefined;
}

function pathOf(error: unknown): (string | number)[] | undefined {
  if (!isJsonObject(error) || !Array.isArray(error.path)) return undefined;
  const { path } = error;
  const isStep = (step: unknown) =>
    typeof step === 'string' ? step.length <= MAX_STEP : Number.isSafeInteger(step);
  return path.length <= MAX_STEPS && path.every(isStep) ? path : undefined;
}
