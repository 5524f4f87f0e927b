// The tokens of mailed links: how they look, what they give, and bounds on guessing them.

import type { Core } from '@partner-loyalty/gateway/ports.ts';
import { fail, isErrorCode } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { messagePage, tooManyPage } from '@partner-loyalty/runtime/pages/cards.ts';
import { textsOf } from '@partner-loyalty/runtime/pages/language.ts';
import type { LinkKind } from '@partner-loyalty/runtime/signin/exchange.ts';
import { LRUCache } from 'lru-cache';

/** How long a token that was not found causes no other read. */
const ABSENT = { ttl: 5_000, max: 20_000 };

/** An invitation as the invited person sees it. */
type Invitation = { partnerName: string; email: string };
type Redeemed = {
  confirmChange: { email: string };
  undoChange: { email: string };
  /** The member's ID. */
  contestUndo: string;
  /** What an invitation offers, without accepting it. */
  invitation: Invitation;
  acceptInvitation: Invitation;
};
// These fields are on no surface: only the service uses them.
const REDEEM: Readonly<Record<keyof Redeemed, string>> = {
  confirmChange:
    'mutation ($token: String!, $language: String, $formId: String) { result: confirmChange(token: $token, language: $language, formId: $formId) { email } }',
  undoChange:
    'mutation ($token: String!, $language: String, $formId: String) { result: undoChange(token: $token, language: $language, formId: $formId) { email } }',
  contestUndo:
    'mutation ($token: String!, $formId: String) { result: contestUndo(token: $token, formId: $formId) }',
  invitation: 'query ($token: String!) { result: invitation(token: $token) { partnerName email } }',
  acceptInvitation:
    'mutation ($token: String!, $formId: String) { result: acceptInvitation(token: $token, formId: $formId) { partnerName email } }',
};

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
        const texts = textsOf(request);
        const { data, errors } = await graphs.askProvider({
          query: REDEEM[field],
          // The language is that of the mail that it causes.
          variables: { token, language: texts.language, formId },
          caller: { kind: 'service' },
          requestId: request.requestId,
        });
        const code = errors?.[0]?.extensions.code;
        // Cast: without an error, the subgraph's schema promises the value.
        if (code === undefined) return show(data?.result as Redeemed[Field]);
        if (code === 'EMAIL_IN_USE') return messagePage(409, texts, 'addressInUse');
        if (code === 'SERVICE_UNAVAILABLE') return fail(code);
        return isErrorCode(code) && code !== 'INTERNAL_SERVER_ERROR'
          ? undefined
          : fail('INTERNAL_SERVER_ERROR');
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
