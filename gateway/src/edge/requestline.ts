// What a request leaves when its response has ended: the log line, metrics, and what is counted.
import { isServerError } from '@partner-loyalty/runtime/errors.ts';
import { maskedAddress } from '@partner-loyalty/runtime/http/address.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { ResponseObserver } from '@partner-loyalty/runtime/http/response.ts';
import type { LogFields } from '@partner-loyalty/runtime/observe/fields.ts';
import { jsonFields, type Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import type { Trace } from '@partner-loyalty/runtime/observe/tracing/trace.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { loggedOperation } from '../document/executable.ts';
import type { ServedGraphs } from '../graph/served.ts';
import { partnerIdOf, type Refused } from '../identity/authenticate.ts';
import type { Credential, RequestState } from '../state.ts';
import type { UsageCounter } from '../usage/usage.ts';
import { createDescribeCaller, fieldsOf, rememberFields } from './callerline.ts';

type RequestLineParts = {
  graphs: Pick<ServedGraphs, 'current'>;
  log: Pick<Log, 'infoJson' | 'refused'>;
  metrics: Pick<Metrics, 'request' | 'partner' | 'executed' | 'budgetUsed'>;
  usage: Pick<UsageCounter, 'ended'>;
  logClientAddress: Settings['logClientAddress'];
};

/** The fields that every schema has (GraphQL, section 4). */
const META_FIELDS = new Set(['__typename', '__schema', '__type']);
const EARLY = { reason: 'the client closed the connection' };
const CLOSED_EARLY = jsonFields(EARLY);

/** Creates the observer of the response to a request. */
export type ObserveRequest = (request: HttpRequest, state: RequestState) => ResponseObserver;

export function createObserveRequest(parts: RequestLineParts): ObserveRequest {
  const { graphs, log, metrics, usage, logClientAddress } = parts;
  const describe = createDescribeCaller();
  const describeCodes = rememberFields();

  function end(
    { requestId }: HttpRequest,
    state: RequestState,
    bytes: number,
    isWhole: boolean,
  ): void {
    const { status, codes, principal, unidentified, cost, startedAt, verdict } = state;
    // Whole microseconds: shorter numbers make the line cheaper to write.
    const durationMs = Math.round((performance.now() - startedAt) * 1000) / 1000;
    const operation = state.executable?.logged ?? describeRefused(state, graphs);
    const isUnknown = status === 429 && unidentified !== undefined;
    if (isUnknown || verdict?.allowed === false) {
      const who = unidentified ?? (principal && fieldsOf(principal));
      const line = { requestId, ...(isWhole ? { bytes } : EARLY), ...who, cost, status, codes };
      log.refused({ ...line, ...JSON.parse(`{${operation.slice(1)}}`), durationMs }, 'request');
    } else {
      const caller =
        principal === undefined
          ? jsonFields(withShownAddress(unidentified ?? {}, logClientAddress))
          : describe(principal);
      const failed = codes.length === 0 ? '' : describeCodes(codes.join(), { codes });
      const closed = unidentified === undefined ? CLOSED_EARLY : '';
      const ending = isWhole ? `,"bytes":${bytes}` : closed;
      log.infoJson(
        `,"requestId":"${requestId}"${caller}${operation},"cost":${cost},"status":${status}${failed}${ending},"durationMs":${durationMs}`,
        'request',
      );
    }
    const code = codes[0] ?? 'OK';
    // Alerts are about failures that nobody wanted.
    if (state.isFault !== true) metrics.request(status, code, durationMs);
    if (state.trace?.isRecorded) endSpan(state.trace, state);
    const partnerId = principal && partnerIdOf(principal);
    metrics.partner(partnerId, code);
    const name = state.asked?.operation?.name;
    if (state.executable !== undefined && principal !== undefined)
      metrics.executed(principal.surface, partnerId, name, durationMs);
    // A member's budget is not the partner's, even with a token that the partner holds.
    const budgetUsed =
      verdict?.policy === 'key' ? (verdict.limit - verdict.remaining) / verdict.limit : 0;
    if (partnerId !== undefined && verdict?.policy === 'key')
      metrics.budgetUsed(partnerId, budgetUsed);
    const ofPartner = principal === undefined ? refusedIn(state.credential)?.partnerId : partnerId;
    if (ofPartner === undefined) return;
    const { clientId } = principal ?? {};
    const request = {
      requestId,
      keyId: keyIdOf(state),
      clientId,
      // The root field only if it ran: then it is a name of the schema.
      operation: name ?? (state.executable && state.asked?.operation?.rootFields[0]?.name),
      status,
      codes,
      // Its address has paid for a key or token that was refused.
      cost: principal === undefined ? 0 : cost,
      durationMs,
      ...(state.isFault && { isFault: true as const }),
    };
    usage.ended(ofPartner, request, budgetUsed);
  }

  return (request, state) => {
    if (state.principal === undefined) state.unidentified = describeUnidentified(request, state);
    return { ended: (bytes, isWhole) => end(request, state, bytes, isWhole) };
  };
}

/** Undefined unless the credential is missing where it is needed, or not valid here. */
function describeUnidentified(
  { address }: HttpRequest,
  { credential, verdict }: RequestState,
): LogFields | undefined {
  const refused = refusedIn(credential);
  const reason = refused?.reason ?? reasonOf(credential.kind, verdict !== undefined);
  if (reason === undefined) return undefined;
  const { keyId, partnerId: partner } = refused ?? {};
  return { partner, keyId, reason, clientAddress: address };
}

function withShownAddress(fields: LogFields, as: Settings['logClientAddress']): LogFields {
  const { clientAddress } = fields;
  if (as === 'full' || clientAddress === undefined) return fields;
  return { ...fields, clientAddress: maskedAddress(`${clientAddress}`) };
}

/** The log with client addresses as the setting says. */
export function withShownAddresses(log: Log, as: Settings['logClientAddress']): Log {
  return {
    ...log,
    refused: (fields, message) => log.refused(withShownAddress(fields, as), message),
  };
}

function reasonOf(kind: Credential['kind'], isCounted: boolean): string | undefined {
  if (kind === 'mismatch') return 'environment';
  return kind === 'none' && isCounted ? 'missing' : undefined;
}

/** The refusal of a key or token, also of a key that comes with a token. */
function refusedIn(credential: Credential): Refused | undefined {
  if (credential.kind === 'ambiguous') return credential.refused;
  return credential.kind === 'refused' ? credential : undefined;
}

/** Nothing in a trace is personal: no member ID, variable or literal. */
function endSpan(trace: Trace, { status, codes, principal, asked }: RequestState): void {
  const attributes = {
    'http.response.status_code': status,
    'error.type': codes[0],
    'graphql.operation.name': asked?.operation?.name,
    'graphql.operation.type': asked?.operation?.node.operation,
    'loyalty.operation_hash': asked?.operation?.hash,
    'loyalty.surface': principal?.surface,
    'loyalty.partner_id': principal && partnerIdOf(principal),
    'loyalty.key_id': principal?.policy === 'key' ? principal.id : undefined,
  };
  trace.end(attributes, status >= 500 || isServerError(codes[0]));
}

/** The key of a request, even if it has ended or may not be used from there. */
function keyIdOf({ principal, credential }: RequestState): string | undefined {
  if (principal !== undefined) return principal.policy === 'key' ? principal.id : undefined;
  return refusedIn(credential)?.keyId;
}

/** What a line says of an operation that was refused, whose fields may not be the schema's. */
function describeRefused(
  { asked, principal }: RequestState,
  graphs: RequestLineParts['graphs'],
): string {
  if (asked?.operation === undefined || principal === undefined) return '';
  const { operation } = asked;
  const { schema } = graphs.current().surfaces[principal.surface];
  const fields = schema.getRootType(operation.node.operation)?.getFields() ?? {};
  const known = operation.rootFields.filter(
    ({ name }) => Object.hasOwn(fields, name) || META_FIELDS.has(name),
  );
  return loggedOperation(operation, known);
}
