// Redeems the tokens of mailed links in the members subgraph.

import type { ServedGraphs } from '@partner-loyalty/gateway/graph/served.ts';
import { type ErrorCode, fail, isErrorCode } from '@partner-loyalty/runtime/errors.ts';

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

/** Rejects with an ApiError if the subgraph is unavailable. */
export async function redeem<Field extends keyof Redeemed>(
  { askProvider }: Pick<ServedGraphs, 'askProvider'>,
  field: Field,
  token: string,
  requestId: string,
  /** The language of the mail that it causes, and the form that redeems it. */
  sent: { language: string; formId?: string | undefined },
): Promise<Outcome<Redeemed[Field]>> {
  const query = REDEEM[field];
  // For members of the version before, which refuse arguments that they do not know.
  const former = query.replaceAll(/, \$?(?:language|formId): \$?\w+/g, '');
  const redeemBy = async (text: string) => {
    const { data, errors } = await askProvider({
      query: text,
      variables: { token, ...sent },
      caller: { kind: 'service' },
      requestId,
    });
    return { data, code: errors?.[0]?.extensions.code };
  };
  let { data, code } = await redeemBy(query);
  if (code === 'INTERNAL_SERVER_ERROR' && former !== query)
    ({ data, code } = await redeemBy(former));
  if (code === 'SERVICE_UNAVAILABLE' || code === 'INTERNAL_SERVER_ERROR') return fail(code);
  if (isErrorCode(code)) return { refused: code };
  if (code !== undefined) return fail('INTERNAL_SERVER_ERROR');
  // Cast: without an error, the subgraph's schema promises the value.
  return { value: data?.result as Redeemed[Field] };
}
