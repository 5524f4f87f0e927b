// The sessions of browsers: oidc-provider's own, each of which the member can see and end.

import { randomBytes } from 'node:crypto';
import type { MembersCore } from '@partner-loyalty/members/ports.ts';
import { digest, SESSION_MS } from '@partner-loyalty/members/tables/access.ts';
import type { KoaContextWithOIDC as Context, Provider, Session } from 'oidc-provider';
import type { Grants } from './grants.ts';
import { textsOf } from './render.ts';

/** When the member proved who it is, in milliseconds since 1970. A repeat has the same `id`. */
type SignedIn = { at: number; limitedTo?: string | undefined; id?: string | undefined };

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions(
  { store: { access, endedSessions, payloads }, issuer }: Pick<MembersCore, 'store' | 'issuer'>,
  grants: Pick<Grants, 'beginSession' | 'endSession'>,
) {
  /** `__Host-` makes browsers refuse the cookie without TLS (RFC 6265bis, section 4.1.3). */
  const cookieName = (name: string) => (issuer.startsWith('https:') ? `__Host-${name}` : name);
  const name = cookieName('session');

  /**
   * Records the session with the member, who was signed in `at` a time; false if all sessions have
   * ended since, even if that was while it began.
   */
  async function begin(
    ctx: Context,
    memberId: string,
    { uid }: Session,
    { at, limitedTo }: SignedIn,
  ): Promise<boolean> {
    const sessionId = digest(uid);
    const isOpen = async () => ((await endedSessions.find(memberId)) ?? 0) < at;
    if (!(await isOpen())) return false;
    await grants.beginSession(memberId, {
      sessionId,
      usedAt: Date.now(),
      browser: browserOf(ctx.get('user-agent')),
      ...(limitedTo !== undefined && { limitedTo }),
    });
    if (await isOpen()) return true;
    await grants.endSession(memberId, sessionId);
    return false;
  }

  async function find(memberId: string, { uid }: Session) {
    const { sessions = [] } = (await access.find(memberId)) ?? {};
    return sessions.find(({ sessionId }) => sessionId === digest(uid));
  }

  const use = (ctx: Context, memberId: string, { uid }: Session) =>
    access.use(memberId, digest(uid), textsOf(ctx).language, Date.now());

  async function keep(ctx: Context, session: Session, memberId: string, limitedTo?: string) {
    await session.save(SESSION_MS / 1_000);
    setCookie(ctx, name, session.jti, SESSION_MS);
    return { session, memberId, sessionId: digest(session.uid), limitedTo };
  }

  function setCookie(ctx: Context, cookie: string, value: string | null, maxAge: number): void {
    const attributes = { httpOnly: true, sameSite: 'lax', path: '/', overwrite: true } as const;
    ctx.cookies.set(cookie, value, { ...attributes, ...(value !== null && { maxAge }) });
  }

  /** Removes the gateway's cookie, so that nothing that a form led to shows again. */
  const forgetForms = (ctx: Context) => setCookie(ctx, cookieName('form'), null, 0);

  return {
    name,
    cookieName,
    setCookie,
    forgetForms,
    /** As it was recorded; undefined if it has ended. */
    find,
    /** Who is signed in with the ID of a session that has not ended. */
    async personOf(id: string): Promise<string | undefined> {
      const { accountId, uid } = (await payloads.find(`Session:${digest(id)}`)) ?? {};
      if (typeof accountId !== 'string') return undefined;
      const isOpen = await access.has(accountId, 'Session', digest(String(uid)));
      return isOpen ? `member ${accountId}` : undefined;
    },
    /** The session that the browser is signed in with, prolonged; undefined if there is none. */
    async current(ctx: Context, provider: Provider) {
      const session = await provider.Session.get(ctx);
      const { accountId: memberId } = session;
      if (memberId === undefined) return undefined;
      const used = await use(ctx, memberId, session);
      return used && keep(ctx, session, memberId, used.limitedTo);
    },
    /**
     * Notes an authorization in a session, which begins if the member has just signed in; false if
     * it has ended by then.
     */
    async used(ctx: Context, memberId: string): Promise<boolean> {
      const { session, result } = ctx.oidc;
      if (session === undefined) return true;
      // Cast: what the page of the provider has answered with.
      const login = result?.login as SignedIn | undefined;
      if (login !== undefined) return begin(ctx, memberId, session, login);
      await use(ctx, memberId, session);
      return true;
    },
    /**
     * Signs the browser in with a new ID of its session, so that nobody can know it before. With
     * an ID that has begun one already, it is that one. Undefined if that has ended, or all since.
     */
    async signIn(
      ctx: Context,
      provider: Provider,
      memberId: string,
      { id = randomBytes(32).toString('base64url'), ...signedIn }: SignedIn,
    ) {
      const isRepeated = (await payloads.find(`Session:${digest(id)}`)) !== undefined;
      const begun = isRepeated ? await provider.Session.find(id) : undefined;
      if (isRepeated && !(begun && (await use(ctx, memberId, begun)))) return undefined;
      let session = await provider.Session.get(ctx);
      if (session.accountId !== undefined && session.accountId !== memberId) {
        await session.destroy();
        forgetForms(ctx);
        session = new provider.Session();
      }
      session = begun ?? session;
      if (session.accountId === undefined) session.uid = digest(id);
      session.loginAccount({ accountId: memberId });
      if (session.jti !== id) session.resetIdentifier();
      session.jti = id;
      if (!isRepeated && !(await begin(ctx, memberId, session, signedIn))) return undefined;
      return keep(ctx, session, memberId, signedIn.limitedTo);
    },
    async signOut(ctx: Context, session: Session): Promise<void> {
      await session.destroy();
      setCookie(ctx, name, null, 0);
      forgetForms(ctx);
    },
  };
}

/** The first that is in a User-Agent is the one: the others claim to be those after them. */
const BROWSERS = { Edg: 'Edge', OPR: 'Opera', Firefox: '', Chrome: '', Safari: '' };
const SYSTEM = /Windows|Android|iPhone|iPad|Mac|Linux/;

/** What a person would call the browser. */
function browserOf(userAgent: string): string {
  const [mark = '?', name] =
    Object.entries(BROWSERS).find(([one]) => userAgent.includes(`${one}/`)) ?? [];
  const [system] = /Android/.exec(userAgent) ?? SYSTEM.exec(userAgent) ?? [];
  return [name || mark, ...(system ? [system] : [])].join(', ');
}
