// The gateway's own client of the members subgraph: signing keys, and redeeming mailed links.
import { type ErrorCode, fail, isErrorCode } from '@partner-loyalty/runtime/errors.ts';
import type {
  SubgraphRequest,
  SubgraphResponse,
} from '@partner-loyalty/runtime/transport/types.ts';
import type { JSONWebKeySet } from 'jose';
import type { EndedSessions } from '../identity/ownprovider.ts';

/** An invitation as the invited person sees it. */
type Invitation = { partnerName: string; email: string };
export type Redeemed = {
  signIn: { idToken: string };
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
export type MembersClient = {
  signingKeys(): Promise<JSONWebKeySet>;
  /** Sessions that ended at `since` or later, in milliseconds since 1970, the earliest first. */
  endedSessions(since: number): Promise<readonly EndedSessions[]>;
  redeem<Field extends keyof Redeemed>(
    field: Field,
    token: string,
    requestId: string,
  ): Promise<Outcome<Redeemed[Field]>>;
};

// These fields are on no surface: they are for the service alone.
const SIGNING_KEYS = '{ signingKeys }';
const ENDED_SESSIONS =
  'query ($since: Float!) { endedSessions(since: $since) { memberId endedAt } }';
const REDEEM: Readonly<Record<keyof Redeemed, string>> = {
  signIn: 'mutation ($token: String!) { result: signIn(token: $token) { idToken } }',
  confirmChange: 'mutation ($token: String!) { result: confirmChange(token: $token) { email } }',
  undoChange: 'mutation ($token: String!) { result: undoChange(token: $token) { email } }',
  contestUndo: 'mutation ($token: String!) { result: contestUndo(token: $token) }',
  invitation: 'query ($token: String!) { result: invitation(token: $token) { partnerName email } }',
  acceptInvitation:
    'mutation ($token: String!) { result: acceptInvitation(token: $token) { partnerName email } }',
};

type Ask = (request: SubgraphRequest) => Promise<SubgraphResponse>;

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
    async endedSessions(since) {
      const { data } = await askAsService(ENDED_SESSIONS, 'ended-sessions', { since });
      // Cast: the subgraph's schema promises this list.
      return Array.isArray(data?.endedSessions)
        ? (data.endedSessions as EndedSessions[])
        : fail('SERVICE_UNAVAILABLE');
    },
    async redeem(field, token, requestId) {
      const { data, errors } = await askAsService(REDEEM[field], requestId, { token });
      const code = errors?.[0]?.extensions.code;
      if (code === 'SERVICE_UNAVAILABLE' || code === 'INTERNAL_SERVER_ERROR') return fail(code);
      if (isErrorCode(code)) return { refused: code };
      if (code !== undefined) return fail('INTERNAL_SERVER_ERROR');
      // Cast: without an error, the subgraph's schema promises the value.
      return { value: data?.result as Redeemed[typeof field] };
    },
  };
}
