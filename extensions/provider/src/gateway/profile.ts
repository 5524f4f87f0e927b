// Shows a signed-in member's account, with the profile that the API gives for the provider's token.
import type { Core } from '@partner-loyalty/gateway/ports.ts';
import { type ErrorCode, fail } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { messagePage, tooManyPage } from '@partner-loyalty/runtime/pages/cards.ts';
import type { Texts } from '@partner-loyalty/runtime/pages/language.ts';
import { pageResponse } from '@partner-loyalty/runtime/pages/layout.ts';
import type { Account } from '@partner-loyalty/runtime/signin/exchange.ts';
import { accountPage, type Profile, retryPage } from './account.ts';
import { callApi, claimsIn } from './apiclient.ts';

const PROFILE = `query ($id: ID!) { memberProfile(id: $id) {
  email firstName lastName
  membershipYearStats { akinPoints totalStays }
  standings {
    partnerId tier tierValidUntil points nextTier pointsToNextTier yearEnd
  }
} }`;

type Profiles = {
  memberProfile: Omit<Profile, 'standings'> & {
    standings: Omit<Profile['standings'][0], 'partner'>[];
  };
};

/** Shows the account. Rejects if the API fails, unless it is unavailable: then it says so. */
export async function showAccount(
  core: Pick<Core, 'graphql' | 'keyStore' | 'settings'>,
  request: HttpRequest,
  account: Account,
  texts: Texts,
): Promise<HttpResponse> {
  const { token, action } = account;
  const variables = { id: claimsIn(token).sub };
  const { data, errors } = await callApi<Profiles>(core, request, token, PROFILE, variables);
  const refusal = errors?.[0]?.extensions;
  if (refusal?.retryAfter !== undefined && refusal.code === 'RATE_LIMITED')
    return tooManyPage(texts, refusal.retryAfter);
  if (refusal !== undefined || !data) return refusalPage(refusal?.code, action, texts);
  const { memberProfile: profile } = data;
  const named = profile.standings.map(async (standing) => {
    return { ...standing, partner: await nameOf(core, standing.partnerId) };
  });
  const standings = await Promise.all(named);
  const isSandbox = core.settings.environment === 'sandbox';
  return pageResponse(200, accountPage(account, { ...profile, standings }, texts, isSandbox));
}

/** The partner's name, or its ID if the name cannot be read. */
async function nameOf({ keyStore }: Pick<Core, 'keyStore'>, partnerId: string): Promise<string> {
  const partner = await keyStore.partner(partnerId).catch(() => undefined);
  return partner?.name ?? partnerId;
}

function refusalPage(code: ErrorCode | undefined, action: string, texts: Texts): HttpResponse {
  if (code === 'UNAUTHENTICATED' || code === 'MEMBER_NOT_FOUND')
    return messagePage(401, texts, 'sessionEnded');
  if (code === 'SERVICE_UNAVAILABLE') return pageResponse(503, retryPage(action, texts));
  return fail('INTERNAL_SERVER_ERROR');
}
