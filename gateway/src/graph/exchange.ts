// What the service asks its own subgraphs in JSON texts, by fields that are on no surface.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type {
  SubgraphRequest,
  SubgraphResponse,
} from '@partner-loyalty/runtime/transport/types.ts';

export type Ask = (request: SubgraphRequest) => Promise<SubgraphResponse>;

/**
 * Resolves with the JSON that `query` asks for as its `answer`. Rejects with an ApiError if there
 * is none.
 */
export async function exchange<Answer>(
  ask: Ask,
  query: string,
  variables: Record<string, unknown>,
  requestId: string,
): Promise<Answer> {
  const caller = { kind: 'service' } as const;
  const { data, errors } = await ask({ query, variables, caller, requestId });
  return typeof data?.answer === 'string' ? JSON.parse(data.answer) : failed(errors);
}

/** Fails as the subgraph did. */
export function failed(errors: SubgraphResponse['errors']): never {
  const code = errors?.[0]?.extensions.code;
  return fail(code === 'SERVICE_UNAVAILABLE' ? code : 'INTERNAL_SERVER_ERROR');
}
