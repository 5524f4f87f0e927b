// What the gateway asks of the members subgraph on its own account: signing keys and what the sign-in page does.
import { type ErrorCode, fail, type Transport } from '@partner-loyalty/runtime';
import type { JSONWebKeySet } from 'jose';

export type Session = { memberId: string; idToken: string; expiresAt: string };
export type ConfirmedChange = { memberId: string; email: string };
/** The value, or the code with which a token was refused. */
export type Outcome<T> = { value: T } | { refused: ErrorCode };

export type Provider = {
  /** The public keys of the built-in identity provider. Rejects where they cannot be had. */
  signingKeys(): Promise<JSONWebKeySet>;
  signIn(token: string, requestId: string): Promise<Outcome<Session>>;
  confirmChange(token: string, requestId: string): Promise<Outcome<ConfirmedChange>>;
  undoChange(token: string, requestId: string): Promise<Outcome<ConfirmedChange>>;
};

// These fields are on no surface: only the gateway's own scope reaches them.
const SIGNING_KEYS = '{ signingKeys }';
const SIGN_IN =
  'mutation ($token: String!) { answer: signIn(token: $token) { memberId idToken expiresAt } }';
const CONFIRM_CHANGE =
  'mutation ($token: String!) { answer: confirmChange(token: $token) { memberId email } }';
const UNDO_CHANGE =
  'mutation ($token: String!) { answer: undoChange(token: $token) { memberId email } }';

/** The provider behind the members subgraph's transport. Rejects with a Failure where the subgraph is away. */
export function createProvider(members: Transport): Provider {
  const ask = async (query: string, requestId: string, variables?: Record<string, unknown>) =>
    members.execute({ query, variables, scope: { kind: 'service' }, requestId });

  async function redeem<T>(query: string, token: string, requestId: string): Promise<Outcome<T>> {
    const { data, errors } = await ask(query, requestId, { token });
    const code = errors?.[0]?.extensions.code;
    if (code === 'SERVICE_UNAVAILABLE' || code === 'INTERNAL_SERVER_ERROR') return fail(code);
    if (code !== undefined) return { refused: code };
    // The subgraph's schema promises the value where there is no error.
    return { value: data?.answer as T };
  }

  return {
    async signingKeys() {
      const { data } = await ask(SIGNING_KEYS, 'signing-keys');
      return typeof data?.signingKeys === 'string'
        ? JSON.parse(data.signingKeys)
        : fail('SERVICE_UNAVAILABLE');
    },
    signIn: (token, requestId) => redeem(SIGN_IN, token, requestId),
    confirmChange: (token, requestId) => redeem(CONFIRM_CHANGE, token, requestId),
    undoChange: (token, requestId) => redeem(UNDO_CHANGE, token, requestId),
  };
}
