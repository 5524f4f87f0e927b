// Which URLs webhooks may go to, and the secrets that sign their messages.
import { type Reach, reachOfHost } from '@partner-loyalty/runtime/http/publicaddress.ts';
import { isLoopback, type Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { createSealedSecrets } from '@partner-loyalty/runtime/store/vault.ts';
import type { Endpoint } from '@partner-loyalty/standings/store/webhooks.ts';

export type TargetRules = Pick<Settings, 'webhookPrivate'>;

const MAX_LENGTH = 2_048;

export function allowsReach(reach: Reach, { webhookPrivate }: TargetRules): boolean {
  return reach === 'public' || (reach === 'private' && webhookPrivate === 'on');
}

/** A partner's staff reach private addresses only of a service that nobody else can call. */
export function rulesFor(
  { byStaff }: Pick<Endpoint, 'byStaff'>,
  { webhookPrivate, host }: Pick<Settings, 'webhookPrivate' | 'host'>,
): TargetRules {
  const isTrusted = byStaff === undefined || (byStaff.isLocal && isLoopback(host));
  return { webhookPrivate: isTrusted ? webhookPrivate : 'off' };
}

/** What a URL must be or have, if it is not; undefined if it may be called. */
export function urlFault(text: string, rules: TargetRules): string | undefined {
  if (text.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  // `URL` skips or encodes them, and whoever lists endpoints sees the text.
  if (/\p{C}/u.test(text)) return 'must not contain control characters';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && rules.webhookPrivate === 'on'))
    return 'must be a URL that starts with https://';
  if (url.username !== '' || url.password !== '')
    return 'must not contain a user name or a password';
  if (text.includes('#')) return 'must not have a fragment';
  const reach = reachOfHost(url.hostname);
  return reach === undefined || allowsReach(reach, rules)
    ? undefined
    : 'must not have an address that webhooks may not go to';
}

export type WebhookSecrets = ReturnType<typeof createWebhookSecrets>;

export function createWebhookSecrets(settings: Pick<Settings, 'environment' | 'keyEncryptionKey'>) {
  return createSealedSecrets('whsec_', settings);
}
