// `loyalty apps`: registers the apps of partners that sign members in with OpenID Connect.
import { randomBytes } from 'node:crypto';
import { type App, makeSecret, originsOf, redirectsFault, rotated } from '@partner-loyalty/members';
import { browserOrigin } from '@partner-loyalty/runtime/settings/schemas.ts';
import { Command, Option } from 'commander';
import { typed } from '../shell/argument.ts';
import { CommandError, noSuch, type Shell } from '../shell/shell.ts';
import { changeMembers, requirePartner, withStore } from '../shell/stores.ts';
import { partnerName } from './partneroptions.ts';
import { putIntoMembers } from './partners.ts';

export function appsCommand(shell: Shell): Command {
  const group = new Command('apps').description('manage the apps that sign members in');
  const parseOrigin = typed('--origin', browserOrigin);
  const repeated = (given: string, before: string[] = []) => [...before, given];
  group
    .command('create')
    .description('register an app, and print its ID and secret; the secret is not shown again')
    .argument('<partner>', "the partner's ID")
    .requiredOption('--name <name>', 'its name, as members see it', typed('--name', partnerName))
    .requiredOption('--redirect <uri>', 'where sign-ins lead back to; may be repeated', repeated)
    .addOption(
      new Option('--public', 'it cannot keep a secret, as in a browser (default)').conflicts(
        'confidential',
      ),
    )
    .option('--confidential', 'it has a server, which keeps a secret')
    .option('--first-party', 'it may do all that the member may, without being asked')
    .option(
      '--origin <origin>',
      'the origin of its pages; may be repeated (default: those of its https redirect URIs)',
      (given: string, before?: string[]) => repeated(parseOrigin(given), before),
    )
    .action((partnerId: string, options: CreateOptions) => create(shell, partnerId, options));
  group
    .command('list')
    .description("list a partner's apps")
    .argument('<partner>', "the partner's ID")
    .action((partnerId: string) => list(shell, partnerId));
  group
    .command('rotate-secret')
    .description('make a new secret and print it; the one before works for 24 more hours')
    .argument('<clientid>', "the app's ID, as listed")
    .action((clientId: string) => rotateSecret(shell, clientId));
  group
    .command('remove')
    .description('remove an app: its tokens are refused within 5 seconds')
    .argument('<clientid>', "the app's ID, as listed")
    .action((clientId: string) => remove(shell, clientId));
  return group;
}

type CreateOptions = {
  name: string;
  redirect: string[];
  confidential?: true;
  firstParty?: true;
  origin?: string[];
};

async function create(shell: Shell, partnerId: string, options: CreateOptions): Promise<void> {
  const { name, redirect: redirectUris, confidential, firstParty, origin } = options;
  const settings = settingsOf(shell);
  const isProduction = settings.environment === 'production';
  const fault = redirectsFault(redirectUris, { isPublic: !confidential, isProduction });
  if (fault !== undefined) throw new CommandError(`--redirect ${fault}`);
  if (firstParty && !redirectUris.every((uri) => uri.startsWith('https:')))
    throw new CommandError('--redirect must be https for --first-party');
  const partner = await withStore('keys', settings, (keys) => requirePartner(keys, partnerId));
  // What members know of the partner may be from before there were apps.
  await putIntoMembers(settings, partner);
  const { secret, hash } = makeSecret();
  const clientId = `app_${randomBytes(12).toString('base64url')}`;
  const app: App = {
    clientId,
    partnerId,
    name,
    redirectUris: [...new Set(redirectUris)],
    origins: origin ?? originsOf(redirectUris),
    ...(confidential && { secrets: [{ hash }] }),
    ...(firstParty && { isFirstParty: true }),
    createdAt: Date.now(),
  };
  await changeMembers(shell, ({ apps }) => apps.add(app));
  shell.print({ clientId, clientSecret: confidential && secret });
}

async function list(shell: Shell, partnerId: string): Promise<void> {
  const settings = settingsOf(shell);
  await withStore('keys', settings, (keys) => requirePartner(keys, partnerId));
  const apps = await withStore('members', settings, (members) => members.apps.list(partnerId));
  if (apps.length === 0) shell.note(`partner ${partnerId} has no apps yet: loyalty apps create`);
  else
    shell.printAll(
      apps.map(({ secrets, isFirstParty = false, createdAt, partnerId: _, ...app }) => ({
        ...app,
        kind: secrets === undefined ? 'public' : 'confidential',
        isFirstParty,
        createdAt: new Date(createdAt),
      })),
    );
}

async function rotateSecret(shell: Shell, clientId: string): Promise<void> {
  settingsOf(shell);
  const { secret, hash } = makeSecret();
  const changed = await changeMembers(shell, async ({ apps }) => {
    const app = await apps.find(clientId);
    if (app !== undefined && app.secrets === undefined)
      throw new CommandError(`app ${clientId} is public: it has no secret`);
    return apps.change(clientId, (before) => ({
      ...before,
      secrets: rotated(before.secrets ?? [], hash, Date.now()),
    }));
  });
  if (changed === undefined) throw noSuch('app', clientId);
  shell.print({ clientId, clientSecret: secret });
}

async function remove(shell: Shell, clientId: string): Promise<void> {
  settingsOf(shell);
  await changeMembers(shell, async ({ apps, endedSubjects }) => {
    if ((await apps.find(clientId)) === undefined) throw noSuch('app', clientId);
    const end = () => endedSubjects.end(`client:${clientId}`, Date.now());
    // Before, so that no crash leaves its tokens valid; and after, for those issued meanwhile.
    await end();
    await apps.remove(clientId);
    await end();
  });
  shell.print({ clientId, removed: true });
}

function settingsOf(shell: Shell) {
  const settings = shell.settings();
  if (settings.idTokenIssuer !== undefined)
    throw new CommandError(
      'members sign in with another provider, ID_TOKEN_ISSUER, which registers apps itself',
    );
  return settings;
}
