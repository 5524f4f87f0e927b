// The emails that members receive, and the links in them.
import { until } from '../until.ts';
import type { InProcessService } from './inprocess.ts';

/** Settings that make the service its own identity provider instead of the test's provider. */
export const BUILT_IN = {
  ID_TOKEN_ISSUER: '',
  ID_TOKEN_AUDIENCE: '',
  ID_TOKEN_MEMBER_CLAIM: '',
};

/** The next email to an address after `request` has run, or 'no email' if none comes. */
export async function nextEmail(
  service: Pick<InProcessService, 'mail'>,
  to: string,
  request: () => Promise<unknown>,
): Promise<string> {
  const before = service.mail().length;
  await request();
  const addressed = new RegExp(`^To: <?${to.replaceAll('.', '\\.')}>?\\r?$`, 'mi');
  const found = () =>
    service
      .mail()
      .slice(before)
      .find((email) => addressed.test(email));
  // A limit may have stopped the email, so do not wait forever.
  const deadline = Date.now() + 60_000;
  await until(() => found() !== undefined || Date.now() > deadline);
  return found() ?? 'no email';
}

let made = 0;

/** A new member of alpha and beta, since one mailbox receives at most five emails in 15 minutes. */
export async function newMember(
  service: { stores: Pick<InProcessService['stores'], 'members'> },
  { firstName, lastName }: { firstName?: string; lastName?: string } = {},
) {
  made += 1;
  const email = `member-${made}@example.com`;
  const enrollments = [{ partnerId: 'alpha' }, { partnerId: 'beta' }];
  await service.stores.members.importMembers([
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

/** The link in an email, or 'no link'. */
export function linkIn(email: string): string {
  return /https?:\/\/[^\s"<>]+[?&]token=[\w-]+/.exec(email)?.[0] ?? 'no link';
}

/**
 * The magic link that a member receives when a partner requests one. Rejects if the request fails.
 */
export async function magicLink(
  service: Pick<InProcessService, 'mail' | 'send'>,
  email: string,
  { key, to = email }: { key?: string | undefined; to?: string } = {},
): Promise<string> {
  const received = await nextEmail(service, to, async () => {
    const { body } = await service.send({ query: REQUEST, variables: { email }, key });
    if (JSON.stringify(body) !== '{"data":{"requestMagicLink":{"accepted":true}}}')
      throw new Error(JSON.stringify(body));
  });
  return linkIn(received);
}

export const REQUEST =
  'mutation ($email: String!) { requestMagicLink(email: $email) { accepted } }';
export const EXCHANGE =
  'mutation ($token: String!) { exchangeMagicLink(token: $token) { memberId idToken expiresAt } }';
