// Who is signed in to the console, by the cookie of a browser and the stored session behind it.
import { hash, randomBytes } from 'node:crypto';
import type { KeyStore } from '@partner-loyalty/gateway/identity/keystore.ts';
import {
  type ConsoleSession,
  joinStaff,
  placesOf,
  type Staff,
} from '@partner-loyalty/gateway/identity/staff.ts';
import type { Cookies } from '@partner-loyalty/gateway/pages/forms.ts';
import type { HttpRequest } from '@partner-loyalty/runtime/http/request.ts';

const SESSION_MS = 12 * 3_600_000;
/** A session is prolonged no more often, so that few views of a page write. */
const PROLONGED_MS = 5 * 60_000;
/** How long a sign-in can be repeated, with some time for its request. */
const REPEATED_MS = 2 * 60_000;
export const SESSION_COOKIE = 'console';

/** What a browser is signed in to. */
export type SignedIn = {
  sessionId: string;
  /** The staff of the partner that was chosen; undefined if none was. */
  staff: Staff | undefined;
  /** What the person is, for each of the partners. */
  places: Staff[];
  /** To be sent with the response. */
  cookies: string[];
};

export type Sessions = ReturnType<typeof createSessions>;

const idOf = (held: string) => hash('sha256', held);
const isLive = ({ isLink, hasEnded, expiresAt }: ConsoleSession) =>
  !isLink && !hasEnded && expiresAt > Date.now();

/** Finds who is signed in with what a browser holds. */
export function createPersonOf(keys: Pick<KeyStore, 'staffTables'>) {
  return async (held: string): Promise<string | undefined> => {
    const session = await (await keys.staffTables()).sessions.get(idOf(held));
    return session && isLive(session) ? `staff ${session.address}` : undefined;
  };
}

/** Nothing is cached, so that a change of the staff shows at once in every process. */
export function createSessions(keys: Pick<KeyStore, 'staffTables'>, cookies: Cookies) {
  const placesIn = async ({ address, demoPartnerId }: ConsoleSession) =>
    demoPartnerId === undefined
      ? placesOf(await keys.staffTables(), address)
      : [demoStaff(demoPartnerId)];

  async function prolong(held: string, { expiresAt }: ConsoleSession): Promise<string[]> {
    if (expiresAt - Date.now() > SESSION_MS - PROLONGED_MS) return [];
    const { sessions } = await keys.staffTables();
    const until = Date.now() + SESSION_MS;
    // It may have ended meanwhile.
    await sessions.update(idOf(held), (before) => before && { ...before, expiresAt: until });
    return [cookies.write(SESSION_COOKIE, held, SESSION_MS)];
  }

  async function end(sessionId: string): Promise<void> {
    const expiresAt = Date.now() + REPEATED_MS;
    const { sessions } = await keys.staffTables();
    await sessions.update(
      sessionId,
      (before) => before && { ...before, hasEnded: true, expiresAt },
    );
  }

  return {
    /** Undefined without a session, or once the person is not staff there any more. */
    async current(request: HttpRequest): Promise<SignedIn | undefined> {
      const held = cookies.read(request, SESSION_COOKIE);
      if (held === '') return undefined;
      const { sessions } = await keys.staffTables();
      const session = await sessions.get(idOf(held));
      if (session === undefined || !isLive(session)) return undefined;
      const places = await placesIn(session);
      const staff = places.find(({ staffId }) => staffId === session.staffId);
      if (places.length === 0 || (session.staffId !== undefined && staff === undefined))
        return undefined;
      const { sessionId } = session;
      return { sessionId, staff, places, cookies: await prolong(held, session) };
    },

    /**
     * Begins a session with a new ID, so that nobody can know it before, and ends another one that
     * the browser has. Resolves with the cookie, or undefined if the person is nobody's staff.
     * `held` is the secret of the session: if it has begun one already, that stays as it is, and
     * there is no `staff`; undefined if that has ended.
     */
    async begin(
      request: HttpRequest,
      who: Pick<ConsoleSession, 'address' | 'demoPartnerId'>,
      held = randomBytes(32).toString('base64url'),
    ): Promise<{ cookie: string; staff: Staff | undefined } | undefined> {
      const now = Date.now();
      const sessionId = idOf(held);
      const session = { ...who, sessionId, expiresAt: now + SESSION_MS };
      const [staff, ...others] = await placesIn(session);
      if (staff === undefined) return undefined;
      const chosen = others.length === 0 ? staff : undefined;
      const tables = await keys.staffTables();
      const { sessions } = tables;
      if (chosen !== undefined) await joinStaff(tables, chosen.staffId);
      const former = cookies.read(request, SESSION_COOKIE);
      if (former !== held) await end(idOf(former));
      let known: ConsoleSession | undefined;
      await sessions.update(sessionId, (before) => {
        known = before;
        return before ?? { ...session, ...(chosen && { staffId: chosen.staffId }) };
      });
      if (known?.hasEnded) return undefined;
      await sessions.removeUntil('expiresAt', now);
      const cookie = cookies.write(SESSION_COOKIE, held, SESSION_MS);
      return { cookie, staff: known === undefined ? chosen : undefined };
    },

    async choose({ sessionId }: SignedIn, { staffId }: Staff): Promise<void> {
      const tables = await keys.staffTables();
      await joinStaff(tables, staffId);
      await tables.sessions.update(sessionId, (before) => before && { ...before, staffId });
    },

    /** Resolves with the cookie that says so. */
    async end({ sessionId }: SignedIn): Promise<string> {
      await end(sessionId);
      return cookies.write(SESSION_COOKIE, '');
    },

    /** The partner of a link of the demo, which works once; undefined if there is no such link. */
    async redeemDemo(token: string): Promise<string | undefined> {
      const { sessions } = await keys.staffTables();
      let partnerId: string | undefined;
      await sessions.update(idOf(token), (link) => {
        const isGood = link?.isLink && link.expiresAt > Date.now();
        partnerId = isGood ? link.demoPartnerId : undefined;
        return isGood ? undefined : link;
      });
      return partnerId;
    },
  };
}

export const DEMO_STAFF_ID = 'demo';

function demoStaff(partnerId: string): Staff {
  return {
    staffId: DEMO_STAFF_ID,
    partnerId,
    email: 'demo',
    role: 'admin',
    createdAt: new Date(0),
  };
}
