// The profile page of a signed-in member: it reads and changes the profile through the API.
import { ApiError, type ErrorCode, fail } from '@partner-loyalty/runtime/errors.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import { pageResponse } from '../pages/layout.ts';
import {
  type Notice,
  type Profile,
  profilePage,
  retryPage,
  SESSION_ENDED,
  TOO_MANY_ATTEMPTS,
} from './cards.ts';
import type { CallApi, Sessions } from './session.ts';

/** `session` is the member's ID token. */
export type ProfilePage = {
  /** Offers to try again if the profile is unavailable: the link that led here is used up. */
  show(request: HttpRequest, session: string): Promise<HttpResponse>;
  /** Shows the profile with the outcome. Rejects with an ApiError if the API is unavailable. */
  requestEmailChange(request: HttpRequest, session: string, email: string): Promise<HttpResponse>;
};

export type PartnerName = (partnerId: string) => Promise<string>;

const PROFILE = `query ($id: ID!) { memberProfile(id: $id) {
  email firstName lastName
  membershipYearStats { akinPoints totalStays }
  partnerStandings { partnerId tier points }
} }`;
const REQUEST_EMAIL_CHANGE =
  'mutation ($email: String!) { requestEmailChange(email: $email) { accepted } }';

type MemberProfile = Omit<Profile, 'partnerStandings'> & {
  partnerStandings: { partnerId: string; tier: string; points: number }[];
};

export function createProfilePage(
  callApi: CallApi,
  partnerName: PartnerName,
  sessions: Sessions,
): ProfilePage {
  async function showProfile(
    request: HttpRequest,
    session: string,
    notice?: Notice,
  ): Promise<HttpResponse> {
    const variables = { id: subjectOf(session) };
    const { data, errors } = await callApi<{ memberProfile: MemberProfile }>(
      request,
      session,
      PROFILE,
      variables,
    );
    const code = errors?.[0]?.extensions.code;
    const refusal = refusalPage(code, sessions);
    if (refusal !== undefined) return refusal;
    if (code !== undefined || !data)
      return fail(code === 'SERVICE_UNAVAILABLE' ? code : 'INTERNAL_SERVER_ERROR');
    const profile = await withPartnerNames(data.memberProfile, partnerName);
    return pageResponse(200, profilePage(profile, session, notice));
  }

  return {
    async show(request, session) {
      try {
        return await showProfile(request, session);
      } catch (error) {
        if (error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE')
          return pageResponse(503, retryPage(session));
        throw error;
      }
    },
    async requestEmailChange(request, session, email) {
      const { errors } = await callApi(request, session, REQUEST_EMAIL_CHANGE, { email });
      const code = errors?.[0]?.extensions.code;
      const refusal = refusalPage(code, sessions);
      if (refusal !== undefined) return refusal;
      if (code === 'SERVICE_UNAVAILABLE' || code === 'INTERNAL_SERVER_ERROR') return fail(code);
      const text =
        code === undefined
          ? `We have sent a link to ${email.trim()}. Open it to make the change.`
          : 'That is not an email address we can use.';
      return showProfile(request, session, { text, isProblem: code !== undefined });
    },
  };
}

/** The page for a code with which the API refuses the session itself. */
function refusalPage(code: ErrorCode | undefined, sessions: Sessions): HttpResponse | undefined {
  if (code === 'UNAUTHENTICATED' || code === 'MEMBER_NOT_FOUND')
    return sessions.end(pageResponse(401, SESSION_ENDED));
  if (code === 'RATE_LIMITED') return pageResponse(429, TOO_MANY_ATTEMPTS);
  return undefined;
}

async function withPartnerNames(
  { partnerStandings, ...profile }: MemberProfile,
  partnerName: PartnerName,
): Promise<Profile> {
  const standings = partnerStandings.map(async ({ partnerId, tier, points }) => {
    return { partner: await partnerName(partnerId), tier, points };
  });
  return { ...profile, partnerStandings: await Promise.all(standings) };
}

/** The unverified `sub` of an ID token. The API verifies the token, so it refuses a forged one. */
function subjectOf(idToken: string): string {
  try {
    const { sub } = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString());
    return typeof sub === 'string' && sub !== '' ? sub : '-';
  } catch {
    return '-';
  }
}
