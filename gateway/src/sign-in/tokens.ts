// Redeems the tokens of mailed links, with bounds on how often they can be guessed.
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { LRUCache } from 'lru-cache';
import type { Limiter } from '../budget/limiter.ts';
import { pageResponse } from '../pages/layout.ts';
import { ADDRESS_IN_USE, INVALID_LINK, TOO_MANY_ATTEMPTS } from './cards.ts';
import type { MembersClient, Redeemed } from './membersclient.ts';

/** For how long a token that was not found causes no other read. */
const ABSENT = { ttl: 5_000, max: 20_000 };

export type TokenParts = {
  members: Pick<MembersClient, 'redeem'>;
  limiter: Pick<Limiter, 'consumeRefusal' | 'refusals'>;
};

export type Tokens = ReturnType<typeof createTokens>;

export function createTokens({ members, limiter }: TokenParts) {
  const absent = new LRUCache<string, true>(ABSENT);
  const tooMany = () => pageResponse(429, TOO_MANY_ATTEMPTS);

  /** The page for a client address that is over a limit, which redeems nothing; else undefined. */
  const refusal = ({ address }: HttpRequest) =>
    limiter.refusals.isOver(address) ? tooMany() : undefined;

  /** The page for a token that is not valid. Guessing tokens is limited as guessing keys is. */
  const refuse = async ({ address }: HttpRequest) =>
    (await limiter.consumeRefusal(address)).allowed ? pageResponse(410, INVALID_LINK) : tooMany();

  return {
    refusal,
    refuse,
    /** What the token gives, or a page. Rejects with an ApiError if the subgraph is unavailable. */
    async redeem<Field extends keyof Redeemed>(
      field: Field,
      token: string,
      request: HttpRequest,
    ): Promise<{ value: Redeemed[Field] } | { page: HttpResponse }> {
      const page = refusal(request);
      if (page !== undefined) return { page };
      if (absent.has(token)) return { page: await refuse(request) };
      const outcome = await members.redeem(field, token, request.requestId);
      if (!('refused' in outcome)) return outcome;
      if (outcome.refused === 'EMAIL_IN_USE') return { page: pageResponse(409, ADDRESS_IN_USE) };
      absent.set(token, true);
      return { page: await refuse(request) };
    },
  };
}
