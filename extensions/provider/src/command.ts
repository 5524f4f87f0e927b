// `loyalty apps`: registers the apps of partners that sign members in with OpenID Connect.

import { commandGroup, PARTNER } from '@partner-loyalty/cli/shell/argument.ts';
import { CommandError, noSuch, type Shell } from '@partner-loyalty/cli/shell/shell.ts';
import {
  changeMembers,
  putIntoMembers,
  readStore,
  requirePartner,
  withStore,
} from '@partner-loyalty/cli/shell/stores.ts';
import type { MembersStore } from '@partner-loyalty/members';
import type {
  AppAction,
  AppAnswer,
  AppRefusal,
  AppRequest,
} from '@partner-loyalty/runtime/manage/apps.ts';
import { Option } from 'commander';
import { createManageApps, MAX_APPS } from './members/apps.ts';

export function commands(shell: Shell) {
  const { group, add } = commandGroup('apps', 'manage the apps that sign members in');
  const repeated = (given: string, before: string[] = []) => [...before, given];
  add(
    'create',
    'register an app, and print its ID and secret; the secret is not shown again',
    PARTNER,
  )
    .requiredOption('--name <name>', 'its name, as members see it')
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
      repeated,
    )
    .action((partnerId: string, options: CreateOptions) => create(shell, partnerId, options));
  add('list', "list a partner's apps", PARTNER).action((partnerId: string) =>
    list(shell, partnerId),
  );
  add('update', 'change an app, which keeps its ID; what is not given stays', {
    '<clientid>': "the app's ID, as listed",
  })
    .option('--name <name>', 'its name, as members see it')
    .option('--redirect <uri>', 'instead of its redirect URIs; may be repeated', repeated)
    .option('--origin <origin>', 'instead of its origins; may be repeated', repeated)
    .action((clientId: string, options: Partial<CreateOptions>) =>
      update(shell, clientId, options),
    );
  add('rotate-secret', 'make a new secret and print it; the one before works for 24 more hours', {
    '<clientid>': "the app's ID, as listed",
  }).action((clientId: string) => rotateSecret(shell, clientId));
  add('remove', 'remove an app: its tokens are refused within 5 seconds', {
    '<clientid>': "the app's ID, as listed",
  }).action((clientId: string) => remove(shell, clientId));
  return [group];
}

type CreateOptions = {
  name: string;
  redirect: string[];
  confidential?: true;
  firstParty?: true;
  origin?: string[];
};

async function create(shell: Shell, partnerId: string, options: CreateOptions): Promise<void> {
  const { name, redirect: redirectUris, confidential, firstParty, origin: origins } = options;
  const settings = settingsOf(shell);
  const partner = await withStore('keys', settings, (keys) => requirePartner(keys, partnerId));
  // What members know of the partner may be from before there were apps.
  await putIntoMembers(settings, partner);
  const { app, secret } = await ask(shell, {
    ...{ action: 'create', partnerId, name, redirectUris, origins },
    ...{ isConfidential: confidential === true, isFirstParty: firstParty },
  });
  const row = { clientId: app.clientId, clientSecret: secret };
  if (secret === undefined) shell.print(row);
  else shell.printOnce(row);
}

async function list(shell: Shell, partnerId: string): Promise<void> {
  const settings = settingsOf(shell);
  await readStore('keys', settings, (keys) => requirePartner(keys, partnerId));
  const { apps } = await ask(shell, { action: 'list', partnerId });
  if (apps.length === 0) shell.note(`partner ${partnerId} has no apps yet: loyalty apps create`);
  else shell.printAll(apps.map((app) => ({ ...app, createdAt: new Date(app.createdAt) })));
}

async function update(
  shell: Shell,
  clientId: string,
  { name, redirect: redirectUris, origin: origins }: Partial<CreateOptions>,
): Promise<void> {
  if (name === undefined && redirectUris === undefined && origins === undefined)
    throw new CommandError('there is nothing to change; --help lists the options');
  const partnerId = await partnerOf(shell, clientId);
  const change = { name, redirectUris, origins };
  const { app } = await ask(shell, { action: 'update', partnerId, clientId, ...change });
  shell.print({ ...app, createdAt: new Date(app.createdAt) });
}

async function rotateSecret(shell: Shell, clientId: string): Promise<void> {
  const partnerId = await partnerOf(shell, clientId);
  const { secret } = await ask(shell, { action: 'rotate', partnerId, clientId });
  shell.printOnce({ clientId, clientSecret: secret });
}

async function remove(shell: Shell, clientId: string): Promise<void> {
  const partnerId = await partnerOf(shell, clientId);
  await ask(shell, { action: 'remove', partnerId, clientId });
  shell.print({ clientId, removed: true });
}

async function partnerOf(shell: Shell, clientId: string): Promise<string> {
  const app = await withStore('members', settingsOf(shell), async ({ apps }) =>
    apps.find(clientId),
  );
  if (app === undefined) throw noSuch('app', clientId);
  return app.partnerId;
}

async function ask<Action extends AppAction>(
  shell: Shell,
  request: AppRequest<Action>,
): Promise<Exclude<AppAnswer<Action>, AppRefusal>> {
  const settings = shell.settings();
  const run = (members: MembersStore) => createManageApps(members, settings)(request, 'operator');
  const answer = await (request.action === 'list'
    ? readStore('members', settings, run)
    : changeMembers(shell, run));
  if ('refused' in answer) throw refusal(answer, request);
  // Cast: TypeScript does not see that only the answer of the action is left.
  return answer as Exclude<AppAnswer<Action>, AppRefusal>;
}

const OPTIONS = { name: '--name', redirectUris: '--redirect', origins: '--origin' };

function refusal(
  answer: AppRefusal,
  { partnerId, clientId }: { partnerId: string; clientId?: string },
): CommandError {
  if (answer.refused === 'invalid')
    return new CommandError(`${OPTIONS[answer.argument]} ${answer.fault}`);
  if (answer.refused === 'tooMany')
    return new CommandError(`partner ${partnerId} has ${MAX_APPS} apps, which is the most`);
  return answer.refused === 'public'
    ? new CommandError(`app ${clientId} is public: it has no secret`)
    : noSuch('app', clientId);
}

function settingsOf(shell: Shell) {
  const settings = shell.settings();
  if (settings.idTokenIssuer !== undefined)
    throw new CommandError(
      'members sign in with another provider, ID_TOKEN_ISSUER, which registers apps itself',
    );
  return settings;
}
