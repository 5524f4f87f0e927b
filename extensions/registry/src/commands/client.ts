// Sends an operation to the registry of a service, with the token of a team.
import { CommandError } from '@partner-loyalty/cli/shell/shell.ts';
import { isJsonObject } from '@partner-loyalty/runtime/input.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { parseJson } from '@partner-loyalty/runtime/transport/wire.ts';
import type { Outcome, RegistryRequest } from '../request.ts';

/** For the place in the queue, the body and composing. */
const DEADLINE_MS = 4 * 60_000;

/** The registry's base URL, if it is given or set. Throws a CommandError if only a token is. */
export function registryOf(
  given: string | undefined,
  { registry, subgraphToken }: Pick<Settings, 'registry' | 'subgraphToken'>,
): string | undefined {
  const base = given ?? registry;
  if (base === undefined && subgraphToken !== undefined)
    throw new CommandError(
      'LOYALTY_SUBGRAPH_TOKEN is set, but not where to use it: set LOYALTY_REGISTRY to the base URL of the service, or give --registry',
    );
  return base;
}

/** `base` is the service's base URL. Throws a CommandError that says what to do. */
export async function sendToRegistry(
  base: string,
  token: string | undefined,
  { operation, ...body }: RegistryRequest,
): Promise<Outcome> {
  if (token === undefined)
    throw new CommandError(
      'LOYALTY_SUBGRAPH_TOKEN must be set: an operator makes the token with loyalty supergraph token create NAME --owner TEAM',
    );
  const unreachable = (error: unknown): never => {
    throw new CommandError(`the registry at ${base} cannot be reached: ${reasonOf(error)}`);
  };
  const response = await fetch(`${base}/registry/${operation}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    // The token goes nowhere else.
    redirect: 'manual',
    signal: AbortSignal.timeout(DEADLINE_MS),
  }).catch(unreachable);
  const answer = parseJson(await response.text().catch(unreachable));
  if (response.status === 200 && isOutcome(answer)) return answer;
  throw new CommandError(faultOf(base, response, answer));
}

function isOutcome(answer: unknown): answer is Outcome {
  return isJsonObject(answer) && ('result' in answer || typeof answer.refused === 'string');
}

function faultOf(base: string, { status, headers }: Response, answer: unknown): string {
  if (status === 401)
    return `the registry at ${base} does not know the token in LOYALTY_SUBGRAPH_TOKEN: it may have expired or been revoked, or belong to another environment`;
  const wait = headers.get('retry-after');
  if (wait !== null) return `${messageIn(answer) ?? `status ${status}`}; try again in ${wait} s`;
  return `the registry at ${base} answers with ${messageIn(answer) ?? `status ${status}: is it the base URL of the service?`}`;
}

function messageIn(answer: unknown): string | undefined {
  const [error] = isJsonObject(answer) && Array.isArray(answer.errors) ? answer.errors : [];
  return isJsonObject(error) && typeof error.message === 'string' ? error.message : undefined;
}

function reasonOf(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : {};
  // Cast: errors of the network have a code.
  const { code, message } = cause as NodeJS.ErrnoException;
  return code || message || 'the connection failed';
}
