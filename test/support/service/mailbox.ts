// What members find in their mail: the letters of a stage, and the links in them.
import { until } from '../until.ts';
import type { Stage } from './inprocess.ts';

/** Has the service be its own identity provider, against what stages have otherwise. */
export const BUILT_IN = { ID_TOKEN_ISSUER: '', ID_TOKEN_AUDIENCE: '', ID_TOKEN_JWKS_URL: '' };

/** The next letter to an address that arrives while it is asked for. */
export async function mailed(
  stage: Stage,
  to: string,
  asked: () => Promise<unknown>,
): Promise<string> {
  const before = stage.mail().length;
  await asked();
  const addressed = new RegExp(`^To: <?${to.replaceAll('.', '\\.')}>?\\r?$`, 'm');
  const found = () =>
    stage
      .mail()
      .slice(before)
      .find((letter) => addressed.test(letter));
  // Rather than to wait for a letter that a limit has stopped.
  const deadline = Date.now() + 15_000;
  await until(() => found() !== undefined || Date.now() > deadline);
  return found() ?? 'no letter';
}

let made = 0;

/** A member of alpha and beta with an address of its own, since a mailbox gets five letters in 15 minutes. */
export async function newMember(
  stage: Stage,
  { firstName, lastName }: { firstName?: string; lastName?: string } = {},
) {
  made += 1;
  const email = `member-${made}@example.com`;
  const enrollments = [{ partnerId: 'alpha' }, { partnerId: 'beta' }];
  await stage.stores.members.importMembers([
    {
      memberId: `member-${made}`,
      address: { typed: email, canonical: email },
      previousAddresses: [],
      firstName,
      lastName,
      enrollments,
    },
  ]);
  return { memberId: `member-${made}`, email };
}

/** The link in a letter. */
export function linkIn(letter: string): string {
  return /https?:\/\/[^\s"<>]+[?&]token=[\w-]+/.exec(letter)?.[0] ?? 'no link';
}

/** A magic link that a partner asks for. Rejects where it is not accepted. */
export async function magicLink(
  stage: Stage,
  email: string,
  { key, to = email }: { key?: string; to?: string } = {},
): Promise<string> {
  const letter = await mailed(stage, to, async () => {
    const { body } = await stage.ask({ query: REQUEST, variables: { email }, key });
    if (JSON.stringify(body) !== '{"data":{"requestMagicLink":{"accepted":true}}}')
      throw new Error(JSON.stringify(body));
  });
  return linkIn(letter);
}

export const REQUEST =
  'mutation ($email: String!) { requestMagicLink(email: $email) { accepted } }';
export const EXCHANGE =
  'mutation ($token: String!) { exchangeMagicLink(token: $token) { memberId idToken expiresAt } }';
