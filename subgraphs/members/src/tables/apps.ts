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

export const APPS: TableDefinition<App> = { name: 'apps', id: 'clientId', orders: ['createdAt'] };

/** More than that are not read. */
const MAX_APPS = 10_000;

export async function openApps(open: OpenTable) {
  const apps = await open(APPS);
  const all = async () => apps.range('createdAt', 0, MAX_APPS);
  return {
    find: apps.get,
    add: apps.put,
    /** Resolves with the app as it is then; undefined if there is no such app. */
    change: (clientId: string, next: (app: App) => App) =>
      apps.update(clientId, (app) => app && next(app)),
    remove: apps.remove,
    /** The apps of a partner, in the order of their creation. */
    list: async (partnerId: string) => (await all()).filter((app) => app.partnerId === partnerId),
    /** The origins of all apps. */
    origins: async () => [...new Set((await all()).flatMap(({ origins }) => origins))],
  };
}

/** A secret of a confidential app, and what is stored of it. */
export function makeSecret(): { secret: string; hash: string } {
  const secret = `cs_${randomBytes(32).toString('base64url')}`;
  return { secret, hash: hash('sha256', secret) };
}
