// The gateway's own client of the members subgraph: signing keys, and redeeming mailed links.
import { type ErrorCode, fail, isErrorCode } from '@partner-loyalty/runtime/errors.ts';
import type {
  SubgraphRequest,
  SubgraphResponse,
} from '@partner-loyalty/runtime/transport/types.ts';
import type { JSONWebKeySet } from 'jose';
import type { EndedSessions } from '../identity/ownprovider.ts';

export type Session = { memberId: string; idToken: string; expiresAt: string };
/** An invitation as the invited person sees it. */
export type Invitation = { partnerName: string; email: string };
export type ConfirmedChange = { memberId: string; email: string };
/** What redeeming a token gives: a value, or the code with which the subgraph refused the token. */
export type Outcome<T> = { value: T } | { refused: ErrorCode };

/** Every method rejects with an ApiError if the subgraph is unavailable. */
export type MembersClient = {
  /** The public keys of the built-in identity provider. */
  signingKeys(): Promise<JSONWebKeySet>;
  /** Sessions that ended at `since` or later, in milliseconds since 1970, the earliest first. */
  endedSessions(since: number): Promise<readonly EndedSessions[]>;
  signIn(token: string, requestId: string): Promise<Outcome<Session>>;
  confirmChange(token: string, requestId: string): Promise<Outcome<ConfirmedChange>>;
  undoChange(token: string, requestId: string): Promise<Outcome<ConfirmedChange>>;
  /** Returns the member's ID. */
  contestUndo(token: string, requestId: string): Promise<Outcome<string>>;
  /** What an invitation offers, without accepting it. */
  invitation(token: string, requestId: string): Promise<Outcome<Invitation>>;
  acceptInvitation(token: string, requestId: string): Promise<Outcome<Invitation>>;
};

// These fields are on no surface: they are for the service alone.
const SIGNING_KEYS = '{ signingKeys }';
const ENDED_SESSIONS =
  'query ($since: Float!) { endedSessions(since: $since) { memberId endedAt } }';
const SIGN_IN =
  'mutation ($token: String!) { result: signIn(token: $token) { memberId idToken expiresAt } }';
const CONFIRM_CHANGE =
  'mutation ($token: String!) { result: confirmChange(token: $token) { memberId email } }';
const UNDO_CHANGE =
  'mutation ($token: String!) { result: undoChange(token: $token) { memberId email } }';
const CONTEST_UNDO = 'mutation ($token: String!) { result: contestUndo(token: $token) }';
const INVITATION =
  'query ($token: String!) { result: invitation(token: $token) { partnerName email } }';
const ACCEPT_INVITATION =
  'mutation ($token: String!) { result: acceptInvitation(token: $token) { partnerName email } }';

type Ask = (request: SubgraphRequest) => Promise<SubgraphResponse>;

/** `ask` reaches the subgraph that is the built-in identity provider. */
export function createMembersClient(ask: Ask): MembersClient {
  async function redeem<T>(query: string, token: string, requestId: string): Promise<Outcome<T>> {
    const { data, errors } = await ask({
      query,
      variables: { token },
      caller: { kind: 'service' },
      requestId,
    });
    const code = errors?.[0]?.extensions.code;
    if (code === 'SERVICE_UNAVAILABLE' || code === 'INTERNAL_SERVER_ERROR') return fail(code);
    if (isErrorCode(code)) return { refused: code };
    if (code !== undefined) return fail('INTERNAL_SERVER_ERROR');
    // Cast: without an error, the subgraph's schema promises the value.
    return { value: data?.result as T };
  }

  return {
    async signingKeys() {
      const { data } = await ask({
        query: SIGNING_KEYS,
        caller: { kind: 'service' },
        requestId: 'signing-keys',
      });
      return typeof data?.signingKeys === 'string'
        ? JSON.parse(data.signingKeys)
        : fail('SERVICE_UNAVAILABLE');
    },
    async endedSessions(since) {
      const { data } = await ask({
        query: ENDED_SESSIONS,
        variables: { since },
        caller: { kind: 'service' },
        requestId: 'ended-sessions',
      });
      // Cast: the subgraph's schema promises this list.
      return Array.isArray(data?.endedSessions)
        ? (data.endedSessions as EndedSessions[])
        : fail('SERVICE_UNAVAILABLE');
    },
    signIn: (token, requestId) => redeem(SIGN_IN, token, requestId),
    confirmChange: (token, requestId) => redeem(CONFIRM_CHANGE, token, requestId),
    undoChange: (token, requestId) => redeem(UNDO_CHANGE, token, requestId),
    contestUndo: (token, requestId) => redeem(CONTEST_UNDO, token, requestId),
    invitation: (token, requestId) => redeem(INVITATION, token, requestId),
    acceptInvitation: (token, requestId) => redeem(ACCEPT_INVITATION, token, requestId),
  };
}
