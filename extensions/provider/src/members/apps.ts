// What operators and partners' staff ask for about apps, and the answers as plain data.
import type { MembersStore } from '@partner-loyalty/members/store/store.ts';
import { type App, makeClientId, makeSecret } from '@partner-loyalty/members/tables/apps.ts';
import { text } from '@partner-loyalty/runtime/input.ts';
import {
  type AppAction,
  type AppAnswer,
  type AppRefusal,
  type AppRequest,
  type ManageApps,
  type ManagedApp,
  type NewApp,
  originsOf,
  ownOrigins,
} from '@partner-loyalty/runtime/manage/apps.ts';
import { browserOrigin } from '@partner-loyalty/runtime/settings/schemas.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import * as z from 'zod';
import { redirectsFault } from './redirects.ts';

type Store = Pick<MembersStore, 'apps' | 'endedSubjects' | 'partners' | 'tokens'>;
type Secrets = NonNullable<App['secrets']>;
type By = Parameters<ManageApps>[1];
type Handle<Action extends AppAction> = (
  request: AppRequest<Action>,
  by: By,
) => Promise<AppAnswer<Action>>;

/** The maximum of a partner. */
export const MAX_APPS = 25;
const MAX_URIS = 20;
/** In characters, of one and of all: a page lists all apps. */
const [MAX_URI, MAX_ALL_URIS] = [2_048, 4_096];
/** How long a replaced secret still works. */
const OVERLAP_MS = 24 * 3_600_000;
const UNKNOWN: AppRefusal = { refused: 'unknown' };

/** Manages the apps in a store. `takeBack` takes back what apps confirmed that were removed. */
export function createManageApps(
  store: Store,
  settings: Pick<Settings, 'environment'>,
  takeBack: () => Promise<void> = store.tokens.takeBackRemoved,
): ManageApps {
  const { apps, endedSubjects, partners } = store;
  const isProduction = settings.environment === 'production';

  async function appOf({ partnerId, clientId }: Record<'partnerId' | 'clientId', string>, by: By) {
    const app = /^app[_-][\w-]{1,64}$/.test(clientId) ? await apps.find(clientId) : undefined;
    if (app?.partnerId !== partnerId) return UNKNOWN;
    return app.isFirstParty && by === 'staff' ? ({ refused: 'firstParty' } as const) : app;
  }

  const actions: { [Action in AppAction]: Handle<Action> } = {
    list: async ({ partnerId }) => ({ apps: (await apps.list(partnerId)).map(viewOf) }),
    async create({ partnerId, ...given }, by) {
      const parsed = parseApp(given, isProduction);
      if ('refused' in parsed) return parsed;
      if (given.isFirstParty && by === 'staff') return { refused: 'firstParty' };
      if ((await partners.get(partnerId)) === undefined) return { refused: 'noPartner' };
      if ((await apps.list(partnerId)).length >= MAX_APPS) return { refused: 'tooMany' };
      const { secret, hash } = makeSecret();
      const app: App = {
        clientId: makeClientId(partnerId),
        partnerId,
        ...parsed,
        ...(given.isConfidential && { secrets: [{ hash }] }),
        ...(given.isFirstParty && { isFirstParty: true }),
        createdAt: Date.now(),
      };
      await apps.add(app);
      return { app: viewOf(app), secret: given.isConfidential ? secret : undefined };
    },
    async update(request, by) {
      const app = await appOf(request, by);
      if ('refused' in app) return app;
      const { name = app.name, redirectUris = app.redirectUris } = request;
      const given = { name, redirectUris, origins: request.origins ?? ownOrigins(app) };
      const { isFirstParty, secrets } = app;
      const whole = { ...given, isFirstParty, isConfidential: secrets !== undefined };
      const parsed = parseApp(whole, isProduction);
      if ('refused' in parsed) return parsed;
      const changed = await apps.change(app.clientId, (before) => ({ ...before, ...parsed }));
      return changed === undefined ? UNKNOWN : { app: viewOf(changed) };
    },
    async rotate(request, by) {
      const app = await appOf(request, by);
      if ('refused' in app) return app;
      if (app.secrets === undefined) return { refused: 'public' };
      const { secret, hash } = makeSecret();
      const changed = await apps.change(app.clientId, (before) => ({
        ...before,
        secrets: rotated(before.secrets ?? [], hash, Date.now()),
      }));
      return changed === undefined ? UNKNOWN : { app: viewOf(changed), secret };
    },
    async remove(request, by) {
      const app = await appOf(request, by);
      if ('refused' in app) return app;
      const end = () => endedSubjects.end([`client:${app.clientId}`]);
      // Before, so that no crash leaves its tokens valid; and after, for what came meanwhile.
      await end();
      await apps.remove(app.clientId);
      await end();
      await takeBack();
      return { app: viewOf(app) };
    },
  };

  return (request, by) => actions[request.action](request, by);
}

/** The secrets after a rotation: the new one, and the one before for 24 hours. */
function rotated(secrets: Secrets, next: string, now: number): Secrets {
  const current = secrets.filter(({ until }) => until === undefined);
  return [...current.map((one) => ({ ...one, until: now + OVERLAP_MS })), { hash: next }];
}

/** Without its secrets. */
function viewOf({ clientId, name, redirectUris, origins, ...app }: App): ManagedApp {
  const { secrets, isFirstParty = false, createdAt } = app;
  const kind = secrets === undefined ? 'public' : 'confidential';
  return { clientId, name, redirectUris, origins, kind, isFirstParty, createdAt };
}

/** A page puts the name into quotation marks, which it must not end. Apostrophes are fine. */
const NAME = text(100).refine(
  (name) => !/(?!['’])\p{Quotation_Mark}|['’]{2}/u.test(name),
  'must not contain quotation marks',
);
const ORIGINS = z.array(browserOrigin).max(MAX_URIS, `must be ${MAX_URIS} at most`);

function parseApp(
  { name, redirectUris: given, origins, isConfidential, isFirstParty }: NewApp,
  isProduction: boolean,
): Pick<App, 'name' | 'redirectUris' | 'origins'> | AppRefusal {
  const redirectUris = [...new Set(given)];
  const checks = [
    ['name', faultOf(NAME, name)],
    ['redirectUris', uriFault(redirectUris, { isConfidential, isFirstParty, isProduction })],
    ['origins', origins && faultOf(ORIGINS, origins)],
  ] as const;
  for (const [argument, fault] of checks)
    if (fault !== undefined) return { refused: 'invalid', argument, fault };
  const own = origins?.length === 0 ? undefined : origins;
  return { name: name.trim(), redirectUris, origins: own ?? originsOf(redirectUris) };
}

function uriFault(
  uris: string[],
  app: Pick<NewApp, 'isConfidential' | 'isFirstParty'> & { isProduction: boolean },
): string | undefined {
  if (uris.length === 0) return 'must be given';
  if (uris.length > MAX_URIS) return `must be ${MAX_URIS} at most`;
  if (uris.some(({ length }) => length > MAX_URI)) return `must have at most ${MAX_URI} characters`;
  if (uris.join('').length > MAX_ALL_URIS)
    return `must have at most ${MAX_ALL_URIS} characters together`;
  const fault = redirectsFault(uris, { ...app, isPublic: !app.isConfidential });
  const isAllowed = !app.isFirstParty || uris.every((uri) => uri.startsWith('https:'));
  return fault ?? (isAllowed ? undefined : 'must be https for a first-party app');
}

function faultOf(schema: z.ZodType, given: unknown): string | undefined {
  return schema.safeParse(given).error?.issues[0]?.message;
}
