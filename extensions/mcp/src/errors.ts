// Errors at /mcp: those of JSON-RPC, with this API's code and the request ID in their data.
import { JSON_TYPE, type ResponseForm } from '@partner-loyalty/gateway/edge/endpoint.ts';
import { shortMessage } from '@partner-loyalty/gateway/edge/response.ts';
import { ApiError, type ErrorCode } from '@partner-loyalty/runtime/errors.ts';

/** A refusal with a code that JSON-RPC defines (JSON-RPC 2.0, section 5.1). */
export class RpcError extends ApiError {
  readonly rpcCode: number;
  constructor(code: ErrorCode, rpcCode: number, message: string) {
    super(code, message);
    this.rpcCode = rpcCode;
  }
}

export type RpcErrorObject = { code: number; message: string; data?: unknown };

/** JSON-RPC leaves the codes from this one down to servers. */
const SERVER_ERROR = -32000;
const INTERNAL_ERROR = -32603;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

/** The ID is null if it could not be read (JSON-RPC 2.0, section 5). */
export const RPC_FORM: ResponseForm = {
  refusal(refusal, extensions, { messageId }) {
    const error = {
      code: rpcCodeOf(refusal),
      message: shortMessage(refusal.message),
      data: extensions,
    };
    return { jsonrpc: '2.0', id: messageId ?? null, error };
  },
  mediaType: () => JSON_TYPE,
  allow: 'POST',
  challenge: 'ApiKey',
};

function rpcCodeOf(refusal: ApiError): number {
  if (refusal instanceof RpcError) return refusal.rpcCode;
  return refusal.code === 'INTERNAL_SERVER_ERROR' ? INTERNAL_ERROR : SERVER_ERROR;
}

/** Adds this API's code and the request ID to an error of the library with this HTTP status. */
export function withCode(
  received: RpcErrorObject,
  status: number,
  requestId: string,
): { code: ErrorCode; error: RpcErrorObject } {
  const error = withoutIssues(received);
  const code = codeOf(error, status);
  const details = typeof error.data === 'object' ? error.data : undefined;
  return { code, error: { ...error, data: { ...details, code, requestId } } };
}

/** Without the report of the library's schemas, which ends a message or is all of it. */
function withoutIssues({ code, message, ...others }: RpcErrorObject): RpcErrorObject {
  if (code === INTERNAL_ERROR && message.startsWith('[\n'))
    return { ...others, code: INVALID_PARAMS, message: 'Invalid params' };
  const [summary = ''] = message.split(': [\n');
  return { ...others, code, message: shortMessage(summary) };
}

function codeOf({ code }: RpcErrorObject, status: number): ErrorCode {
  if (status >= 500 || code === INTERNAL_ERROR) return 'INTERNAL_SERVER_ERROR';
  return code === METHOD_NOT_FOUND ? 'NOT_FOUND' : 'BAD_REQUEST';
}
