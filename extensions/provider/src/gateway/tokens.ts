// The tokens of mailed links: how they look, and bounds on how often they can be guessed.

import type { Core } from '@partner-loyalty/gateway/ports.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { messagePage, tooManyPage } from '@partner-loyalty/runtime/pages/cards.ts';
import { textsOf } from '@partner-loyalty/runtime/pages/language.ts';
import type { LinkKind } from '@partner-loyalty/runtime/signin/exchange.ts';
import { LRUCache } from 'lru-cache';
import { type Redeemed, redeem } from './redeem.ts';

/** How long a token that was not found causes no other read. */
const ABSENT = { ttl: 5_000, max: 20_000 };

export type Tokens = ReturnType<typeof createTokens>;

export function createTokens({ graphs, limiter }: Pick<Core, 'graphs' | 'limiter'>) {
  const absent = new LRUCache<string, true>(ABSENT);
  const tooMany = (request: HttpRequest) =>
    tooManyPage(textsOf(request), limiter.refusals.secondsLeft(request.address));

  /** The page for a client address that is over a limit, which redeems nothing; else undefined. */
  const refusal = (request: HttpRequest) =>
    limiter.refusals.isOver(request.address) ? tooMany(request) : undefined;

  /** `page`, for a credential that is not valid. Guessing is limited as guessing keys is. */
  const refuse = async (
    request: HttpRequest,
    page: HttpResponse = messagePage(410, textsOf(request), 'invalidLink'),
  ) => ((await limiter.consumeRefusal(request.address)).allowed ? page : tooMany(request));

  /** What `use` makes of a token, which is undefined if there is no such token; or a refusal. */
  async function guarded(
    token: string,
    request: HttpRequest,
    use: () => Promise<HttpResponse | undefined>,
  ): Promise<HttpResponse> {
    const page = refusal(request);
    if (page !== undefined) return page;
    if (absent.has(token)) return refuse(request);
    const used = await use();
    if (used !== undefined) return used;
    absent.set(token, true);
    return refuse(request);
  }

  return {
    refusal,
    refuse,
    guarded,
    /** Shows what the token gives. Rejects with an ApiError if the subgraph is unavailable. */
    redeem<Field extends keyof Redeemed>(
      field: Field,
      token: string,
      request: HttpRequest,
      show: (value: Redeemed[Field]) => HttpResponse,
      formId?: string,
    ): Promise<HttpResponse> {
      return guarded(token, request, async () => {
        const { language } = textsOf(request);
        const sent = { language, formId };
        const outcome = await redeem(graphs, field, token, request.requestId, sent);
        if (!('refused' in outcome)) return show(outcome.value);
        return outcome.refused === 'EMAIL_IN_USE'
          ? messagePage(409, textsOf(request), 'addressInUse')
          : undefined;
      });
    },
  };
}

const KINDS = new Map<string, LinkKind>([
  ['ml_', 'signIn'],
  ['ec_', 'confirmChange'],
  ['eu_', 'undoChange'],
  ['co_', 'contestUndo'],
]);

/** The kind of link that a token belongs to, by its prefix. */
export function linkKind(token: string): LinkKind | undefined {
  return KINDS.get(token.slice(0, 3));
}

/** Whether a text can be a token of `/sign-in` at all. */
export function isWellFormed(token: string): boolean {
  return linkKind(token) !== undefined && REST.test(token.slice(3));
}

/** Whether a text can be the token of an invitation. */
export function isInvitation(token: string): boolean {
  return token.startsWith('in_') && REST.test(token.slice(3));
}

/** What follows the prefix. */
const REST = /^[A-Za-z0-9_-]{10,200}$/;
