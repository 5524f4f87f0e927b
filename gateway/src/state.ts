// What is known about a request to /graphql or /mcp while it is handled.
import type { LogFields } from '@partner-loyalty/runtime/observe/fields.ts';
import type { Trace } from '@partner-loyalty/runtime/observe/tracing/trace.ts';
import type { Verdict } from './budget/limiter.ts';
import type { ClientDocument, Operation } from './document/document.ts';
import type { ExecutableOperation } from './document/executable.ts';
import type { Authenticated, Principal } from './identity/authenticate.ts';
import type { DeprecationDates } from './schema/dates.ts';

/** The caller's credential, or why it could not be checked. */
export type Credential = Authenticated | { kind: 'unavailable'; error: unknown };

/** What is known of a request so far. The response is built from it. */
export type RequestState = {
  /** Undefined without tracing. */
  trace: Trace | undefined;
  /** On performance.now()'s clock. */
  startedAt: number;
  credential: Credential;
  principal?: Principal | undefined;
  /** What the log says of a request without one: a socket that is closed has no address. */
  unidentified?: LogFields | undefined;
  /**
   * The decision on the principal's budget; without a principal, on the client address's refused
   * credentials. Undefined until the request is charged.
   */
  verdict?: Verdict;
  /** What the request costs, in root fields. */
  cost: number;
  status: number;
  /** The codes of the errors, each once. */
  codes: readonly string[];
  /** The document and the operation in it, as soon as they are read. */
  asked?: { document: ClientDocument; operation: Operation | undefined };
  /** Lets another request take much memory, once this one's response is text. */
  releaseSlot?: () => void;
  /** The time that a caller of a sandbox has chosen, in milliseconds since 1970. */
  sandboxNow?: number | undefined;
  /** Whether it fails because the caller of a sandbox wants it to. */
  isFault?: boolean;
  /** Whether the connection closes instead of the response. */
  isDropped?: boolean;
  /** The ID of the JSON-RPC request at /mcp, once it is read. */
  messageId?: string | number;
  /** Set if the operation is executed. */
  executable?: ExecutableOperation;
  /** Set if the operation uses something deprecated. */
  deprecation?: DeprecationDates | undefined;
};

export function beginRequest(trace: Trace | undefined): RequestState {
  return {
    trace,
    startedAt: performance.now(),
    credential: { kind: 'none' },
    cost: 1,
    status: 200,
    codes: [],
  };
}
