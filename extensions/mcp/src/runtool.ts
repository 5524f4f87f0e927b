// Runs a call of a tool as the operation that it stands for.
import { charge } from '@partner-loyalty/gateway/budget/budget.ts';
import type { GraphqlBody } from '@partner-loyalty/gateway/edge/body.ts';
import type { Principal } from '@partner-loyalty/gateway/identity/authenticate.ts';
import { type OperateContext, operate } from '@partner-loyalty/gateway/operate.ts';
import type { RequestState } from '@partner-loyalty/gateway/state.ts';
import { ApiError, detailsIn, type ErrorDetails, fail } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import { isJsonObject } from '@partner-loyalty/runtime/input.ts';
import type * as z from 'zod';
import { createDescribe } from './describe.ts';
import { RpcError } from './errors.ts';
import { type Tool, toolNamed } from './tools.ts';

export type Exchange = {
  request: HttpRequest;
  state: RequestState;
  principal: Principal;
};

/** The result of a tool; `structuredContent` fits its output schema, even for an error. */
export type ToolResult = {
  content: { type: 'text'; text: string }[];
  structuredContent: Record<string, unknown>;
  isError?: true;
};

/**
 * The outcome of the operation is the tool's result, even if it is an error. Rejects with the
 * reason if the operation is refused.
 */
export function createRunTool(context: OperateContext) {
  const describe = createDescribe(context.graphs);
  /** Charges a call that runs no operation. */
  async function chargeOne({ request, state }: Exchange): Promise<void> {
    if (!(await charge(context.limiter, request, state))) fail('RATE_LIMITED');
  }

  return async (
    exchange: Exchange,
    name: string,
    args: Record<string, unknown>,
  ): Promise<ToolResult> => {
    const { request, state, principal } = exchange;
    const tool = toolNamed(name);
    if (tool === undefined) {
      await chargeOne(exchange);
      throw new RpcError('BAD_REQUEST', -32602, 'there is no tool with this name: see tools/list');
    }
    const operation = operationOf(tool, args);
    if (operation instanceof ApiError) {
      await chargeOne(exchange);
      state.codes = [operation.code];
      return failed(request, operation.code, operation.message, operation.details);
    }
    const { data, errors = [] } = await operate(context, request, state, operation);
    const member = data?.member;
    const result = isJsonObject(member) && tool.result(member, () => describe(principal.scopes));
    if (result) return { content: textOf(result), structuredContent: result };
    const [error] = errors;
    if (error === undefined) throw new Error('the operation ended in neither data nor an error');
    return failed(request, error.extensions.code, error.message, error.extensions);
  };
}

/** The arguments as an operation, or what is wrong with them. A null one counts as absent. */
function operationOf(tool: Tool, args: Record<string, unknown>): GraphqlBody | ApiError {
  const given = Object.entries(args).filter(([, value]) => value !== null);
  const { data, error } = tool.input.safeParse(Object.fromEntries(given));
  if (error !== undefined) return inputError(error.issues[0]);
  try {
    return tool.operation(data);
  } catch (refusal) {
    if (refusal instanceof ApiError) return refusal;
    throw refusal;
  }
}

function inputError(issue: z.core.$ZodIssue | undefined): ApiError {
  const isUnknown = issue?.code === 'unrecognized_keys';
  const argument = isUnknown ? issue.keys[0] : issue?.path[0];
  const expected = issue !== undefined && 'expected' in issue ? issue.expected : 'string';
  const message = isUnknown
    ? 'the tool has no such argument'
    : `the argument must be ${TYPES[expected] ?? 'a string'}`;
  return new ApiError('BAD_USER_INPUT', message, detailsIn({ argument }));
}

const TYPES: Record<string, string> = { int: 'an integer', number: 'an integer', array: 'a list' };

function failed(
  { requestId }: HttpRequest,
  code: string,
  message: string,
  { argument, retryAfter }: ErrorDetails,
): ToolResult {
  const details = { ...(argument && { argument }), ...(retryAfter && { retryAfter }) };
  const structuredContent = { code, message, requestId, ...details };
  return { content: textOf(structuredContent), structuredContent, isError: true };
}

/** For hosts that show the model nothing else. */
function textOf(content: object): ToolResult['content'] {
  return [{ type: 'text', text: JSON.stringify(content) }];
}
