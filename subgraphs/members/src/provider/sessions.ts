// The sessions of browsers: oidc-provider's own, each of which the member can see and end.
import type { Context, Provider, RequestContext, Session } from 'oidc-provider';
import type { MembersStore } from '../store/store.ts';
import { SESSION_MS } from '../tables/access.ts';
import { digest } from './digest.ts';

type SessionParts = { store: Pick<MembersStore, 'access'>; issuer: string };

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions({ store: { access }, issuer }: SessionParts) {
  const isSecure = issuer.startsWith('https:');
  /** `__Host-` makes browsers refuse the cookie without TLS (RFC 6265bis, section 4.1.3). */
  const cookieName = (name: string) => (isSecure ? `__Host-${name}` : name);
  const name = cookieName('session');

  /** Records the session with the member; one that was there before keeps its beginning. */
  async function begin(ctx: Context, memberId: string, session: Session): Promise<void> {
    const sessionId = digest(session.uid);
    const row = await access.find(memberId);
    const known = row?.sessions.find((one) => one.sessionId === sessionId);
    const usedAt = Date.now();
    const browser = browserOf(ctx.get('user-agent'));
    await access.begin(memberId, {
      sessionId,
      beganAt: known?.beganAt ?? usedAt,
      usedAt,
      browser,
    });
  }

  async function keep(ctx: Context, session: Session): Promise<void> {
    await session.save(SESSION_MS / 1_000);
    setCookie(ctx, name, session.jti, SESSION_MS);
  }

  function setCookie(ctx: Context, cookie: string, value: string | null, maxAge: number): void {
    const attributes = { httpOnly: true, sameSite: 'lax', path: '/', overwrite: true };
    ctx.cookies.set(cookie, value, { ...attributes, ...(value !== null && { maxAge }) });
  }

  return {
    name,
    cookieName,
    setCookie,
    /** The session that the browser is signed in with, prolonged; undefined if there is none. */
    async current(ctx: Context, provider: Provider) {
      const session = await provider.Session.get(ctx);
      const { accountId: memberId } = session;
      if (memberId === undefined) return undefined;
      const sessionId = digest(session.uid);
      await access.use(memberId, sessionId, ctx.get('x-language'), Date.now());
      await keep(ctx, session);
      return { session, memberId, sessionId };
    },
    /** Notes an authorization in a session, which begins if the member has just signed in. */
    async used(ctx: Context & { oidc: RequestContext }, memberId: string): Promise<void> {
      const { session, result } = ctx.oidc;
      if (session === undefined) return;
      if (result?.login !== undefined) return begin(ctx, memberId, session);
      await access.use(memberId, digest(session.uid), ctx.get('x-language'), Date.now());
    },
    /** Signs the browser in with a new ID of its session, so that nobody can know it before. */
    async signIn(ctx: Context, provider: Provider, memberId: string) {
      let session = await provider.Session.get(ctx);
      if (session.accountId !== undefined && session.accountId !== memberId) {
        await session.destroy();
        session = new provider.Session();
      }
      session.loginAccount({ accountId: memberId });
      if (!session.new) session.resetIdentifier();
      await begin(ctx, memberId, session);
      await keep(ctx, session);
      return { session, memberId, sessionId: digest(session.uid) };
    },
    async signOut(ctx: Context, session: Session): Promise<void> {
      await session.destroy();
      setCookie(ctx, name, null, 0);
    },
  };
}

const BROWSERS = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
] as const;
const SYSTEMS = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac', 'Linux'];

/** What a person would call the browser. */
function browserOf(userAgent: string): string {
  const [, browser] = BROWSERS.find(([mark]) => userAgent.includes(`${mark}/`)) ?? [];
  const system = SYSTEMS.find((one) => userAgent.includes(one));
  return [browser ?? '?', system].filter((part) => part !== undefined).join(', ');
}
