// `loyalty keys`: creates, lists and revokes the keys of partners.
import {
  createKey,
  DEFAULT_SCOPES,
  defaultScopes,
  KEY_ENDPOINTS,
  KEY_SCOPES,
  type KeyEndpoint,
  type KeyLimits,
  type KeyRecord,
  keysWithUse,
  rotateKey,
  stateOfKey,
} from '@partner-loyalty/gateway';
import type { KeyActivity } from '@partner-loyalty/gateway/usage/usage.ts';
import { omitUndefined, text } from '@partner-loyalty/runtime/input.ts';
import { Option } from 'commander';
import { addresses, commandGroup, durationMs, expiry, PARTNER, scopes } from '../shell/argument.ts';
import type { ServiceShell } from '../shell/extension.ts';
import { CommandError, noSuch, type Row, type Shell } from '../shell/shell.ts';
import { claimForOperator, readStore, requirePartner, withStore } from '../shell/stores.ts';

export function keysCommand(shell: ServiceShell) {
  const { group, add } = commandGroup('keys', 'manage the keys that partners authenticate with');
  add('create', 'create a key and print it; it is not shown again', PARTNER)
    .addOption(
      new Option('--for <endpoint>', 'the only endpoint that accepts it')
        .choices(KEY_ENDPOINTS)
        .default('graphql'),
    )
    .value('--name <name>', 'what its partner calls it', text(100))
    .value(
      '--scopes <list>',
      `what it may be used for: some of ${KEY_SCOPES.join(',')} (default: ${DEFAULT_SCOPES.join(',')}; for mcp: ${defaultScopes('mcp').join(',')})`,
      scopes,
    )
    .value(
      '--expires <time>',
      'when it stops working: after a duration such as 90d, or at 2030-01-31T12:00:00Z',
      expiry,
    )
    .value(
      '--allow <list>',
      'the addresses that may use it, such as 192.0.2.7,10.0.0.0/8 (default: all)',
      addresses,
    )
    .action((partnerId: string, options: CreateOptions) => create(shell, partnerId, options));
  add('rotate', 'create a key with the rights of another one, which ends after an overlap', {
    '<keyid>': "the other key's ID, as listed",
  })
    .value('--overlap <duration>', 'how long both keys work (default: 7d)', durationMs)
    .value(
      '--expires <time>',
      'when the new key stops working (default: as long after its creation as the other one)',
      expiry,
    )
    .action((keyId: string, options: RotateOptions) => rotate(shell, keyId, options));
  add('list', "list a partner's keys, without the keys themselves", PARTNER).action(
    (partnerId: string) => list(shell, partnerId),
  );
  add('revoke', 'revoke a key: it stops working within 5 seconds', {
    '<keyid>': "the key's ID, as listed",
  }).action((keyId: string) => revoke(shell, keyId));
  return group;
}

type CreateOptions = Pick<KeyLimits, 'name' | 'scopes' | 'allow'> & {
  for: KeyEndpoint;
  expires?: Date;
};

async function create(
  shell: Shell,
  partnerId: string,
  { for: endpoint, scopes = defaultScopes(endpoint), name, allow, expires }: CreateOptions,
): Promise<void> {
  const settings = shell.settings();
  // A key without an endpoint is for graphql.
  const stored = endpoint === 'mcp' ? endpoint : undefined;
  const limits = omitUndefined({ name, endpoint: stored, scopes, allow, expiresAt: expires });
  const { key, record } = await withStore('keys', settings, async (keys) => {
    await requirePartner(keys, partnerId);
    await claimForOperator(keys);
    return createKey(keys, settings.environment, partnerId, limits);
  });
  shell.printOnce({ keyId: record.keyId, key }, SAVE);
}

const SAVE = 'Save the key now: it cannot be shown again.';

type RotateOptions = { overlap?: number; expires?: Date };

async function rotate(
  shell: Shell,
  keyId: string,
  { overlap: overlapMs, expires: expiresAt }: RotateOptions,
): Promise<void> {
  const settings = shell.settings();
  const { key, record, formerExpiresAt } = await withStore('keys', settings, async (keys) => {
    const former = await keys.key(keyId);
    if (former === undefined) throw noSuch('key', keyId);
    const state = stateOfKey(former);
    if (state !== 'active')
      throw new CommandError(`key ${keyId} is ${state}: loyalty keys create ${former.partnerId}`);
    await claimForOperator(keys);
    return rotateKey(keys, settings.environment, former, { overlapMs, expiresAt });
  });
  const { expiresAt: newExpiresAt } = record;
  const former = { formerKeyId: keyId, formerExpiresAt };
  shell.printOnce({ keyId: record.keyId, key, expiresAt: newExpiresAt, ...former }, SAVE);
}

async function list(shell: ServiceShell, partnerId: string): Promise<void> {
  const settings = shell.settings();
  const found = await readStore('keys', settings, async (keys) => {
    await requirePartner(keys, partnerId);
    return shell.readUsage(settings, async (usage) =>
      keysWithUse(await keys.keys(partnerId), usage),
    );
  });
  if (found.length === 0)
    shell.note(`partner ${partnerId} has no keys yet: loyalty keys create ${partnerId}`);
  else shell.printAll(found.map(({ record, activity }) => rowOf(record, activity)));
}

function rowOf(record: KeyRecord, activity: KeyActivity | undefined): Row {
  const { keyId, partnerId, name, endpoint = 'graphql', allow, createdAt } = record;
  const { scopes = defaultScopes(endpoint) } = record;
  const { lastFour, expiresAt, revokedAt } = record;
  const { lastUsedAt, requests = 0, refusals = 0 } = activity ?? {};
  return {
    keyId,
    partnerId,
    name,
    lastFour,
    state: stateOfKey(record),
    for: record.endpoint,
    scopes,
    allow,
    createdAt,
    expiresAt,
    revokedAt,
    // Gateways write once a minute, so that the seconds would mean little.
    lastUsedAt: lastUsedAt && new Date(Math.floor(lastUsedAt.getTime() / 60_000) * 60_000),
    requests,
    refusals,
  };
}

async function revoke(shell: Shell, keyId: string): Promise<void> {
  const revokedAt = new Date();
  await withStore('keys', shell.settings(), async (keys) => {
    if (!(await keys.revokeKey(keyId, revokedAt))) throw noSuch('key', keyId);
  });
  shell.print({ keyId, state: 'revoked' });
}
