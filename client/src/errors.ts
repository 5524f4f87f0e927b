// The one error that calls reject with, as a union by its code.
import type { SERVICE_CODES } from './generated/errors.generated.ts';

/** The codes that the service returns. */
export type ServiceCode = keyof typeof SERVICE_CODES;

/** The codes that only the client uses. */
export type OwnCode =
  /** No response: no connection, or one that broke. */
  | 'NETWORK_ERROR'
  /** No complete response within `timeoutMs`. */
  | 'TIMEOUT'
  /** Not a response of the service: a redirect, a page of a proxy, another shape, too large. */
  | 'UNEXPECTED_RESPONSE'
  /** A code that this version of the client does not know; `otherCode` has it. */
  | 'OTHER';

export type ErrorCode = ServiceCode | OwnCode;

type Reason<Code> = Code extends ServiceCode
  ? (typeof SERVICE_CODES)[Code]['reasons'][number]
  : never;

export type ErrorDetails = {
  /** The HTTP status; undefined if there was no response. */
  status?: number | undefined;
  /** The ID in the service's log; the client's own if there was no response. */
  requestId?: string | undefined;
  /** The path of the argument at fault, such as `input.email`. */
  argument?: string | undefined;
  reason?: string | undefined;
  /** The value of `retryAfter` in the error, or else of `Retry-After`. */
  retryAfterSeconds?: number | undefined;
  /** With KEY_ENVIRONMENT_MISMATCH: the endpoint that the key is for. */
  correctEndpoint?: string | undefined;
  /** The service's code, with OTHER. */
  otherCode?: string | undefined;
  /** The root field that failed, or the field in it. */
  path?: readonly (string | number)[] | undefined;
};

/** No error contains a key, a token, or the value of a variable. */
export class PartnerLoyaltyError extends Error {
  override readonly name = 'PartnerLoyaltyError';
  readonly code: ErrorCode;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly argument: string | undefined;
  readonly reason: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly correctEndpoint: string | undefined;
  readonly otherCode: string | undefined;
  readonly path: readonly (string | number)[] | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message);
    this.code = code;
    Object.assign(this, details);
  }
}

type WithCode<Code extends ErrorCode> = PartnerLoyaltyError & {
  readonly code: Code;
  readonly reason: Reason<Code> | undefined;
  readonly otherCode: Code extends 'OTHER' ? string : undefined;
};

/** An error of a call: `switch (error.code)` narrows it. */
export type CallError = { [Code in ErrorCode]: WithCode<Code> }[ErrorCode];

/** Whether a caught value is an error of a call. */
export function isCallError(error: unknown): error is CallError {
  return error instanceof PartnerLoyaltyError;
}
