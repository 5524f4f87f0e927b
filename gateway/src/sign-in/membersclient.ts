// The gateway's own client of the members subgraph, which is the built-in identity provider.
import { type ErrorCode, fail, isErrorCode } from '@partner-loyalty/runtime/errors.ts';
import type {
  EndedSubject,
  IdentityRequest,
  IdentityResponse,
} from '@partner-loyalty/runtime/signin/exchange.ts';
import type {
  StaffNotice,
  StaffSignIn,
  StaffSignInAnswer,
} from '@partner-loyalty/runtime/signin/staff.ts';
import type {
  SubgraphRequest,
  SubgraphResponse,
} from '@partner-loyalty/runtime/transport/types.ts';
import type { OwnProvider } from '../identity/ownprovider.ts';

/** An invitation as the invited person sees it. */
type Invitation = { partnerName: string; email: string };
export type Redeemed = {
  confirmChange: { email: string };
  undoChange: { email: string };
  /** The member's ID. */
  contestUndo: string;
  /** What an invitation offers, without accepting it. */
  invitation: Invitation;
  acceptInvitation: Invitation;
};
/** What redeeming a token gives: a value, or the code with which the subgraph refused the token. */
type Outcome<T> = { value: T } | { refused: ErrorCode };

/** Every method rejects with an ApiError if the subgraph is unavailable. */
export type MembersClient = OwnProvider & {
  /** Hands a request over to the provider, once: it is never sent again. */
  forward(request: IdentityRequest, requestId: string): Promise<IdentityResponse>;
  /** Does a step of a sign-in for the console, once. */
  staffSignIn(request: StaffSignIn, requestId: string): Promise<StaffSignInAnswer>;
  /** Resolves once the mail is sure to be sent. The same notice may be sent again. */
  mailStaff(notice: StaffNotice): Promise<void>;
  redeem<Field extends keyof Redeemed>(
    field: Field,
    token: string,
    requestId: string,
    /** The language of the mail that it causes, and the form that redeems it. */
    sent: { language: string; formId?: string | undefined },
  ): Promise<Outcome<Redeemed[Field]>>;
};

// These fields are on no surface: only the service uses them.
const SIGNING_KEYS = '{ signingKeys }';
const APP_ORIGINS = '{ appOrigins }';
const ENDED_SUBJECTS =
  'query ($since: Float!) { endedSubjects(since: $since) { subject endedAt } }';
const ENDED_SESSIONS =
  'query ($since: Float!) { endedSessions(since: $since) { memberId endedAt } }';
const STAFF_SIGN_IN = 'mutation ($request: String!) { answer: staffSignIn(request: $request) }';
const MAIL_STAFF = 'mutation ($notice: String!) { mailStaff(notice: $notice) }';
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

type EndedSession = { memberId: string; endedAt: number };
type Ask = (request: SubgraphRequest) => Promise<SubgraphResponse>;

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

function failed(errors: SubgraphResponse['errors']): never {
  const code = errors?.[0]?.extensions.code;
  return fail(code === 'SERVICE_UNAVAILABLE' ? code : 'INTERNAL_SERVER_ERROR');
}

/** `ask` reaches the subgraph that is the built-in identity provider. */
export function createMembersClient(ask: Ask): MembersClient {
  const askAsService = (query: string, requestId: string, variables = {}) =>
    ask({ query, variables, caller: { kind: 'service' }, requestId });

  return {
    async signingKeys() {
      const { data } = await askAsService(SIGNING_KEYS, 'signing-keys');
      return typeof data?.signingKeys === 'string'
        ? JSON.parse(data.signingKeys)
        : fail('SERVICE_UNAVAILABLE');
    },
    async endedSubjects(since) {
      const { data } = await askAsService(ENDED_SUBJECTS, 'ended-subjects', { since });
      // Casts: the subgraph's schema promises these lists.
      if (Array.isArray(data?.endedSubjects)) return data.endedSubjects as EndedSubject[];
      // A provider of the version before only knows of members.
      const former = await askAsService(ENDED_SESSIONS, 'ended-sessions', { since });
      return Array.isArray(former.data?.endedSessions)
        ? (former.data.endedSessions as EndedSession[]).map(({ memberId, endedAt }) => ({
            subject: `member:${memberId}`,
            endedAt,
          }))
        : fail('SERVICE_UNAVAILABLE');
    },
    async appOrigins() {
      const { data } = await askAsService(APP_ORIGINS, 'app-origins');
      // None of a provider of the version before. Cast: as above.
      return Array.isArray(data?.appOrigins) ? (data.appOrigins as string[]) : [];
    },
    async forward(forwarded, requestId) {
      const caller = { kind: 'service' } as const;
      const { data, errors } = await ask({ query: '', forwarded, caller, requestId });
      // Cast: what the provider has made.
      return data ? (data as IdentityResponse) : failed(errors);
    },
    staffSignIn: (request, requestId) =>
      exchange(ask, STAFF_SIGN_IN, { request: JSON.stringify(request) }, requestId),
    async mailStaff(notice) {
      const variables = { notice: JSON.stringify(notice) };
      const { data } = await askAsService(MAIL_STAFF, 'staff-notices', variables);
      if (data?.mailStaff !== true) fail('SERVICE_UNAVAILABLE');
    },
    async redeem(field, token, requestId, sent) {
      const query = REDEEM[field];
      // For members of the version before, which refuse arguments that they do not know.
      const former = query.replaceAll(/, \$?(?:language|formId): \$?\w+/g, '');
      const redeemBy = async (text: string) => {
        const { data, errors } = await askAsService(text, requestId, { token, ...sent });
        return { data, code: errors?.[0]?.extensions.code };
      };
      let { data, code } = await redeemBy(query);
      if (code === 'INTERNAL_SERVER_ERROR' && former !== query)
        ({ data, code } = await redeemBy(former));
      if (code === 'SERVICE_UNAVAILABLE' || code === 'INTERNAL_SERVER_ERROR') return fail(code);
      if (isErrorCode(code)) return { refused: code };
      if (code !== undefined) return fail('INTERNAL_SERVER_ERROR');
      // Cast: without an error, the subgraph's schema promises the value.
      return { value: data?.result as Redeemed[typeof field] };
    },
  };
}
