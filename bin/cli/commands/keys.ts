// `loyalty keys`: makes, lists and revokes the keys of partners.
import { issueKey, type KeyRecord, openKeyStore } from '@partner-loyalty/gateway';
import { Command } from 'commander';
import { parseInstant } from '../instant.ts';
import { CommandError, type Shell } from '../shell.ts';
import { claimForOperator, lend } from '../stores.ts';

export function keysCommand(shell: Shell): Command {
  const group = new Command('keys').description('the keys that partners call with');
  group
    .command('create')
    .description('make a key and print it, this once')
    .argument('<partner>', "the partner's id")
    .option('--expires <instant>', 'when it stops working, as 2030-01-31T12:00:00Z')
    .action((partnerId: string, options: { expires?: string }) =>
      create(shell, partnerId, options.expires),
    );
  group
    .command('list')
    .description("list a partner's keys, without the keys themselves")
    .argument('<partner>', "the partner's id")
    .action((partnerId: string) => list(shell, partnerId));
  group
    .command('revoke')
    .description('stop a key, within 5 seconds everywhere')
    .argument('<keyid>', "the key's id, as listed")
    .action((keyId: string) => revoke(shell, keyId));
  return group;
}

async function create(shell: Shell, partnerId: string, expires: string | undefined): Promise<void> {
  const expiresAt = expires === undefined ? undefined : checkExpiry(expires);
  const settings = shell.settings();
  const { key, record } = issueKey(settings.environment, partnerId, new Date(), expiresAt);
  await lend(openKeyStore(settings), async (keys) => {
    if ((await keys.partner(partnerId)) === undefined)
      throw new CommandError(`there is no partner ${JSON.stringify(partnerId)}`);
    await claimForOperator(keys);
    await keys.createKey(record);
  });
  shell.print({ keyId: record.keyId, key });
  if (!shell.json) shell.note('Keep the key now: only its hash is stored.');
}

async function list(shell: Shell, partnerId: string): Promise<void> {
  const records = await lend(openKeyStore(shell.settings()), async (keys) => {
    if ((await keys.partner(partnerId)) === undefined)
      throw new CommandError(`there is no partner ${JSON.stringify(partnerId)}`);
    return keys.keys(partnerId);
  });
  if (records.length === 0)
    shell.note(`partner ${partnerId} has no keys yet: loyalty keys create ${partnerId}`);
  else
    shell.printAll(
      records.map(({ keyId, ...record }) => ({
        keyId,
        partnerId,
        state: stateOf(record),
        ...datesOf(record),
      })),
    );
}

async function revoke(shell: Shell, keyId: string): Promise<void> {
  const revokedAt = new Date();
  await lend(openKeyStore(shell.settings()), async (keys) => {
    if (!(await keys.revokeKey(keyId, revokedAt)))
      throw new CommandError(`there is no key ${JSON.stringify(keyId)}`);
  });
  shell.print({ keyId, state: 'revoked' });
}

function checkExpiry(given: string): Date {
  const expiresAt = parseInstant(given);
  if (expiresAt === undefined)
    throw new CommandError('--expires takes an instant, as 2030-01-31T12:00:00Z');
  if (expiresAt.getTime() <= Date.now())
    throw new CommandError('--expires has to be in the future');
  return expiresAt;
}

function datesOf({
  createdAt,
  expiresAt,
  revokedAt,
}: Pick<KeyRecord, 'createdAt' | 'expiresAt' | 'revokedAt'>) {
  return { createdAt, expiresAt, revokedAt };
}

function stateOf({ expiresAt, revokedAt }: Pick<KeyRecord, 'expiresAt' | 'revokedAt'>): string {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt.getTime() <= Date.now() ? 'expired' : 'active';
}
