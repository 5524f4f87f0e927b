// `loyalty keys`: creates, lists and revokes the keys of partners.
import { issueKey, type KeyRecord } from '@partner-loyalty/gateway';
import { Command } from 'commander';
import * as z from 'zod';
import { typed } from '../shell/argument.ts';
import { parseInstant } from '../shell/instant.ts';
import { CommandError, type Shell } from '../shell/shell.ts';
import { claimForOperator, requirePartner, withStore } from '../shell/stores.ts';

export function keysCommand(shell: Shell): Command {
  const group = new Command('keys').description('manage the keys that partners authenticate with');
  group
    .command('create')
    .description('create a key and print it; it is not shown again')
    .argument('<partner>', "the partner's ID")
    .option(
      '--expires <time>',
      'when it stops working, such as 2030-01-31T12:00:00Z',
      typed('--expires', futureInstant),
    )
    .action((partnerId: string, { expires }: { expires?: Date }) =>
      create(shell, partnerId, expires),
    );
  group
    .command('list')
    .description("list a partner's keys, without the keys themselves")
    .argument('<partner>', "the partner's ID")
    .action((partnerId: string) => list(shell, partnerId));
  group
    .command('revoke')
    .description('revoke a key: it stops working within 5 seconds')
    .argument('<keyid>', "the key's ID, as listed")
    .action((keyId: string) => revoke(shell, keyId));
  return group;
}

const futureInstant = z
  .string()
  .transform((given, context) => {
    const instant = parseInstant(given);
    if (instant !== undefined) return instant;
    context.addIssue('must be an ISO 8601 time with its zone, such as 2030-01-31T12:00:00Z');
    return z.NEVER;
  })
  .refine((instant) => instant.getTime() > Date.now(), 'must be in the future');

async function create(shell: Shell, partnerId: string, expiresAt?: Date): Promise<void> {
  const settings = shell.settings();
  const { key, record } = issueKey(settings.environment, partnerId, new Date(), expiresAt);
  await withStore('keys', settings, async (keys) => {
    await requirePartner(keys, partnerId);
    await claimForOperator(keys);
    await keys.createKey(record);
  });
  shell.print({ keyId: record.keyId, key });
  if (!shell.json) shell.note('Save the key now: only its hash is stored.');
}

async function list(shell: Shell, partnerId: string): Promise<void> {
  const records = await withStore('keys', shell.settings(), async (keys) => {
    await requirePartner(keys, partnerId);
    return keys.keys(partnerId);
  });
  if (records.length === 0)
    shell.note(`partner ${partnerId} has no keys yet: loyalty keys create ${partnerId}`);
  else
    shell.printAll(
      records.map((record) => {
        const { keyId, createdAt, expiresAt, revokedAt } = record;
        return { keyId, partnerId, state: stateOf(record), createdAt, expiresAt, revokedAt };
      }),
    );
}

async function revoke(shell: Shell, keyId: string): Promise<void> {
  const revokedAt = new Date();
  await withStore('keys', shell.settings(), async (keys) => {
    if (!(await keys.revokeKey(keyId, revokedAt)))
      throw new CommandError(`there is no key ${JSON.stringify(keyId)}`);
  });
  shell.print({ keyId, state: 'revoked' });
}

function stateOf({ expiresAt, revokedAt }: Pick<KeyRecord, 'expiresAt' | 'revokedAt'>): string {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt.getTime() <= Date.now() ? 'expired' : 'active';
}
