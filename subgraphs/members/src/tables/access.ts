// What a member is signed in to: the sessions of browsers, and the apps with what they hold.
import { hash } from 'node:crypto';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';

/** Times are in milliseconds since 1970. */
type Session = {
  sessionId: string;
  usedAt: number;
  browser: string;
  /** In a sandbox: the partner that could read the mail that began it. It shows no other's. */
  limitedTo?: string | undefined;
};

/**
 * One authorization of an app: `sid` is in all tokens that come of it. It was given in a session,
 * and outlasts that one unless it is ended. Silent authorizations of a session share one.
 */
export type Grant = { sid: string; sessionId: string; isSilent?: boolean };

/** An app that the member has agreed to, or that needs no agreement. */
type UsedApp = { clientId: string; agreedAt: number; scopes: string[]; grants: Grant[] };

/** A member's row: a session or a grant that is not in it has ended. */
type Access = {
  memberId: string;
  sessions: Session[];
  apps: UsedApp[];
  /** The language of the last page that the member used. */
  language?: string | undefined;
};

export const ACCESS: TableDefinition<Access> = { name: 'access', id: 'memberId' };

export const SESSION_MS = 30 * 24 * 3_600_000;
/** The oldest sessions go first, and the apps and grants that were unused longest. */
const MAX_SESSIONS = 50;
const MAX_APPS = 100;
const MAX_GRANTS_OF_APP = 50;
/** The row is read and written as one, at each use of a grant. */
const MAX_GRANTS = 500;

export async function openAccess(open: OpenTable) {
  const rows = await open(ACCESS);

  /** Replaces the row, and resolves with the `sid`s of grants that it has lost. */
  async function change(
    memberId: string,
    next: (before: Access) => Partial<Access> | undefined,
  ): Promise<string[]> {
    let lost: string[] = [];
    await rows.update(memberId, (stored) => {
      const before = stored ?? { memberId, sessions: [], apps: [] };
      const changes = next(before);
      lost = [];
      if (changes === undefined) return stored;
      const after = { ...before, ...changes };
      const kept = new Set(sidsOf(after));
      lost = sidsOf(before).filter((sid) => !kept.has(sid));
      return after;
    });
    return lost;
  }

  const find = (memberId: string) => rows.get(memberId);
  return {
    find,
    /** Whether the session or the grant has not ended. */
    async has(memberId: string, kind: 'Session' | 'Grant', id: string): Promise<boolean> {
      const row = await find(memberId);
      if (row === undefined) return false;
      return kind === 'Grant'
        ? sidsOf(row).includes(id)
        : row.sessions.some(({ sessionId }) => sessionId === id);
    },
    begin: (memberId: string, session: Session) =>
      change(memberId, (before) => {
        const open = before.sessions.filter(
          ({ sessionId, usedAt }) =>
            sessionId !== session.sessionId && usedAt + SESSION_MS > session.usedAt,
        );
        const dropped = open.splice(0, open.length + 1 - MAX_SESSIONS).map((one) => one.sessionId);
        const apps = without(before.apps, ({ sessionId }) => dropped.includes(sessionId));
        return { sessions: [...open, session], apps };
      }),
    /** Resolves with the session as it is then; undefined if it has ended. */
    async use(memberId: string, sessionId: string, language: string, usedAt: number) {
      let used: Session | undefined;
      await change(memberId, ({ sessions }) => {
        const found = sessions.find((one) => one.sessionId === sessionId);
        used = found && { ...found, usedAt };
        const next = sessions.map((one) => (one === found && used ? used : one));
        return found && { sessions: next, language };
      });
      return used;
    },
    /**
     * Agrees to an app, or to more scopes of it, and grants them. Unless `isAgreeing`, it grants
     * only what was agreed to before. Does nothing if that or the session has ended.
     */
    grant: (memberId: string, agreed: Omit<UsedApp, 'grants'>, grant: Grant, isAgreeing: boolean) =>
      change(memberId, ({ sessions, apps }) => {
        if (!sessions.some(({ sessionId }) => sessionId === grant.sessionId)) return undefined;
        const app = apps.find(({ clientId }) => clientId === agreed.clientId);
        const isAgreed = app && agreed.scopes.every((one) => app.scopes.includes(one));
        if (!isAgreeing && !isAgreed) return undefined;
        const grants = [...(app?.grants ?? []), grant].slice(-MAX_GRANTS_OF_APP);
        const scopes = [...new Set([...(app?.scopes ?? []), ...agreed.scopes])];
        const others = apps.filter((one) => one !== app);
        const kept = [...others, { ...agreed, scopes, grants }].slice(-MAX_APPS);
        const ended = new Set(kept.flatMap((one) => one.grants).slice(0, -MAX_GRANTS));
        return { apps: without(kept, (one) => ended.has(one)) };
      }),
    /** Notes a use of a grant. Does nothing if it has ended. */
    useGrant: (memberId: string, sid: string) =>
      change(memberId, ({ apps }) => {
        const isOne = (grant: Grant) => grant.sid === sid;
        const app = apps.find(({ grants }) => grants.some(isOne));
        const isLast = apps.at(-1) === app && app?.grants.at(-1)?.sid === sid;
        if (app === undefined || isLast) return undefined;
        const others = apps.filter((one) => one !== app);
        const grants = app.grants.toSorted((one, other) => +isOne(one) - +isOne(other));
        return { apps: [...others, { ...app, grants }] };
      }),
    endGrant: (memberId: string, sid: string) =>
      change(memberId, ({ apps }) => ({ apps: without(apps, (grant) => grant.sid === sid) })),
    endSession: (memberId: string, sessionId: string) =>
      change(memberId, ({ sessions, apps }) => ({
        sessions: sessions.filter((one) => one.sessionId !== sessionId),
        apps: without(apps, (grant) => grant.sessionId === sessionId),
      })),
    /** Ends what the apps hold; they have to be agreed to again. */
    revoke: (memberId: string, clientIds: readonly string[]) =>
      change(memberId, ({ apps }) => ({
        apps: apps.filter(({ clientId }) => !clientIds.includes(clientId)),
      })),
    /** Ends all sessions and grants. What the member has agreed to stays. */
    async endAll(memberId: string): Promise<void> {
      if ((await find(memberId)) !== undefined)
        await change(memberId, ({ apps }) => ({ sessions: [], apps: without(apps, () => true) }));
    },
    /** Only for a member who no longer exists. */
    forget: rows.remove,
  };
}

/** The form in which IDs that browsers and apps hold are stored. */
export function digest(id: string): string {
  return hash('sha256', id, 'base64url');
}

function sidsOf({ apps }: Access): string[] {
  return apps.flatMap(({ grants }) => grants.map(({ sid }) => sid));
}

function without(apps: readonly UsedApp[], isEnded: (grant: Grant) => boolean): UsedApp[] {
  return apps.map((app) => ({ ...app, grants: app.grants.filter((one) => !isEnded(one)) }));
}
