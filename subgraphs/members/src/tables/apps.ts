// The apps that partners have registered, to sign members in with OpenID Connect.
import { hash, randomBytes } from 'node:crypto';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';

export type App = {
  clientId: string;
  partnerId: string;
  name: string;
  redirectUris: string[];
  /** The origins of its pages, as browsers send them. */
  origins: string[];
  /** A confidential app has them, as SHA-256 in hexadecimal; one with `until` was replaced. */
  secrets?: { hash: string; until?: number | undefined }[] | undefined;
  /** It may do all that the member may, and members are not asked to agree. */
  isFirstParty?: true | undefined;
  /** In milliseconds since 1970. */
  createdAt: number;
};

export const APPS: TableDefinition<App> = { name: 'apps', id: 'clientId' };

/** The IDs of apps that were registered before those of a partner had a beginning of their own. */
const FORMER_PREFIX = 'app_';

export async function openApps(open: OpenTable) {
  const apps = await open(APPS);
  return {
    find: apps.get,
    add: apps.put,
    /** Resolves with the app as it is then; undefined if there is no such app. */
    change: (clientId: string, next: (app: App) => App) =>
      apps.update(clientId, (app) => app && next(app)),
    remove: apps.remove,
    /** The apps of a partner, in the order of their creation. */
    async list(partnerId: string) {
      const prefixes = [prefixOf(partnerId), FORMER_PREFIX];
      const found = await Promise.all(prefixes.map((prefix) => apps.startingWith(prefix)));
      return found
        .flat()
        .filter((app) => app.partnerId === partnerId)
        .sort((one, other) => one.createdAt - other.createdAt);
    },
    /** The origins of all apps. */
    async origins() {
      const all = await apps.select(() => true);
      return [...new Set(all.flatMap(({ origins }) => origins))];
    },
  };
}

/** A client ID for an app of the partner. */
export function makeClientId(partnerId: string): string {
  return `${prefixOf(partnerId)}${randomBytes(12).toString('base64url')}`;
}

/** The beginning of the IDs of a partner's apps, and perhaps of another's. */
function prefixOf(partnerId: string): string {
  return `app-${hash('sha256', partnerId).slice(0, 12)}`;
}

/** A secret of a confidential app, and what is stored of it. */
export function makeSecret(): { secret: string; hash: string } {
  const secret = `cs_${randomBytes(32).toString('base64url')}`;
  return { secret, hash: hash('sha256', secret) };
}
