// Shows a signed-in member's account, with the profile that the API gives for the provider's token.
import { type ErrorCode, fail } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { pageResponse } from '../pages/layout.ts';
import { type AccountPage, accountPage, type Profile, retryPage } from './account.ts';
import { type CallApi, claimsIn } from './apiclient.ts';
import { messagePage } from './cards.ts';
import type { Texts } from './language.ts';

/** Shows the account. Rejects if the API fails, unless it is unavailable: then it says so. */
export type ShowAccount = (
  request: HttpRequest,
  account: AccountPage,
  texts: Texts,
) => Promise<HttpResponse>;

export type PartnerName = (partnerId: string) => Promise<string>;

const PROFILE = `query ($id: ID!) { memberProfile(id: $id) {
  email firstName lastName
  membershipYearStats { akinPoints totalStays }
  partnerStandings { partnerId tier points }
} }`;

type MemberProfile = Omit<Profile, 'partnerStandings'> & {
  partnerStandings: { partnerId: string; tier: string; points: number }[];
};

export function createShowAccount(callApi: CallApi, partnerName: PartnerName): ShowAccount {
  async function named({ partnerStandings, ...profile }: MemberProfile): Promise<Profile> {
    const standings = partnerStandings.map(async ({ partnerId, tier, points }) => {
      return { partnerId, partner: await partnerName(partnerId), tier, points };
    });
    return { ...profile, partnerStandings: await Promise.all(standings) };
  }

  return async (request, account, texts) => {
    const { token } = account;
    const { data, errors } = await callApi<{ memberProfile: MemberProfile }>(
      request,
      token,
      PROFILE,
      { id: claimsIn(token).sub },
    );
    const code = errors?.[0]?.extensions.code;
    if (code === undefined && data)
      return pageResponse(200, accountPage(account, await named(data.memberProfile), texts));
    return refusalPage(code, account.action, texts);
  };
}

function refusalPage(code: ErrorCode | undefined, action: string, texts: Texts): HttpResponse {
  if (code === 'UNAUTHENTICATED' || code === 'MEMBER_NOT_FOUND')
    return messagePage(401, texts, 'sessionEnded');
  if (code === 'RATE_LIMITED') return messagePage(429, texts, 'tooMany');
  if (code === 'SERVICE_UNAVAILABLE') return pageResponse(503, retryPage(action, texts));
  return fail('INTERNAL_SERVER_ERROR');
}
