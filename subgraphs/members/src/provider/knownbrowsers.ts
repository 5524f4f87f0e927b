// Which addresses a browser has signed in with before: a cookie that only this service can make.
import { createHmac, randomBytes } from 'node:crypto';
import type { Context } from 'oidc-provider';
import type { MembersStore } from '../store/store.ts';
import type { Sessions } from './sessions.ts';

const YEAR_MS = 365 * 24 * 3_600_000;
/** Of one browser; the latest stay. */
const MAX_ADDRESSES = 5;

export type KnownBrowsers = ReturnType<typeof createKnownBrowsers>;

/** The cookie has an ID of the browser, and a seal of it with each address. */
export function createKnownBrowsers(
  { signingKeys }: Pick<MembersStore, 'signingKeys'>,
  { cookieName, setCookie }: Sessions,
) {
  const name = cookieName('known');
  const read = (ctx: Context) =>
    (ctx.cookies.get(name) ?? '').split('.').slice(0, 1 + MAX_ADDRESSES);
  const seal = async (id: string, address: string) =>
    createHmac('sha256', await signingKeys.secret())
      .update(`${id}\n${address}`)
      .digest('base64url')
      .slice(0, 22);

  return {
    /** The browser's ID if it has signed in with the address. */
    async find(ctx: Context, address: string): Promise<string | undefined> {
      const [id = '', ...seals] = read(ctx);
      return seals.includes(await seal(id, address)) ? id : undefined;
    },
    async add(ctx: Context, address: string): Promise<void> {
      const [known = '', ...seals] = read(ctx);
      const id = known === '' ? randomBytes(16).toString('base64url') : known;
      const added = await seal(id, address);
      const kept = [added, ...seals.filter((one) => one !== added)].slice(0, MAX_ADDRESSES);
      setCookie(ctx, name, [id, ...kept].join('.'), YEAR_MS);
    },
  };
}
