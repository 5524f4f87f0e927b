// What apps may have of a member: agreed to once, granted by authorizations, and ended.

import type { MembersCore } from '@partner-loyalty/members/ports.ts';
import { timeOfToken } from '@partner-loyalty/members/signingkeys/endedsessions.ts';
import { digest, type Grant as Given } from '@partner-loyalty/members/tables/access.ts';
import type { App } from '@partner-loyalty/members/tables/apps.ts';
import type { Grant, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { SCOPES, viewOf } from './claims.ts';
import { isOnDevice } from './redirects.ts';
import { refreshKey, refuseFor } from './refreshtokens.ts';

export type Grants = ReturnType<typeof createGrants>;

/** The scopes that show who a member is. */
const IDENTIFYING = ['profile', 'email'];

export function createGrants({ store, issuer }: Pick<MembersCore, 'store' | 'issuer'>) {
  const { access, apps, endedSessions, endedSubjects, payloads, tokens } = store;

  /**
   * Records a grant with the member, and stores it: `before`, with these scopes too, or a new one.
   * Undefined if the member has not agreed to it, or not any more.
   */
  async function grant(
    provider: Provider,
    app: App,
    { memberId, scopes, ...given }: { memberId: string; scopes: string[] } & Omit<Given, 'sid'>,
    isAgreeing: boolean,
    before?: Grant,
  ): Promise<Grant | undefined> {
    const { clientId } = app;
    const made = before ?? new provider.Grant({ accountId: memberId, clientId });
    // The year begins again.
    made.exp = undefined;
    made.addOIDCScope(scopes);
    made.addResourceScope(issuer, scopes);
    const grantId = await made.save();
    const sid = digest(grantId);
    const agreed = { clientId, scopes, agreedAt: Date.now() };
    const used = isAgreeing ? await appsOf(memberId) : [];
    // An app, or a member, that has too many loses the oldest.
    await ending([], () =>
      before === undefined
        ? access.grant(memberId, agreed, { sid, ...given }, isAgreeing)
        : access.useGrant(memberId, sid),
    );
    const left = isAgreeing ? await appsOf(memberId) : [];
    const lost = used.filter((one) => !left.includes(one));
    if (lost.length > 0) await tokens.takeBack(memberId, lost);
    const granted = await provider.Grant.find(grantId);
    if (granted === undefined) await remove([sid]);
    return granted;
  }

  const appsOf = async (memberId: string) =>
    (await access.find(memberId))?.apps.map((app) => app.clientId) ?? [];

  /** Grants that have ended are of no use any more, and would be kept for a year. */
  const remove = (sids: readonly string[]) =>
    payloads.removeAll(sids.flatMap((sid) => [`Grant:${sid}`, refreshKey(sid)]));

  /**
   * Ends the subjects, acts, and ends again what the act took away. The first time, because a crash
   * must not leave tokens valid; the second, because tokens may have been issued meanwhile.
   */
  async function ending(subjects: string[], act: () => Promise<string[]>): Promise<void> {
    await endedSubjects.end(subjects);
    const lost = await act();
    const all = new Set([...subjects, ...lost.map((sid) => `sid:${sid}`)]);
    await endedSubjects.end([...all]);
    await remove(lost);
  }

  return {
    /**
     * Grants what the member agrees to on a page that names the partner and the scopes. Those that
     * show who the member is confirm the partner; nothing else that an app does confirms it.
     */
    async agree(provider: Provider, app: App, given: Parameters<typeof grant>[2]) {
      const granted = await grant(provider, app, given, true);
      if (granted === undefined) return undefined;
      const [partnerId, { clientId }] = [viewOf(app), app];
      if (partnerId !== undefined && given.scopes.some((one) => IDENTIFYING.includes(one))) {
        await tokens.confirmSignIn(given.memberId, { partnerId, clientId });
        // The member may have revoked the app meanwhile, or its partner have removed it.
        const isHeld = await access.has(given.memberId, 'Grant', digest(granted.jti));
        if (!isHeld || (await apps.find(clientId)) === undefined)
          await tokens.takeBack(given.memberId, [clientId]);
      }
      return granted.jti;
    },
    /** The grant that an authorization may use; undefined if the member has to agree first. */
    async load(provider: Provider, { oidc }: KoaContextWithOIDC): Promise<Grant | undefined> {
      const { client, session, account, result } = oidc;
      if (result?.consent !== undefined) return provider.Grant.find(result.consent.grantId ?? '');
      if (client === undefined || session === undefined || account === undefined) return undefined;
      if (['login', 'consent'].some((prompt) => oidc.promptPending(prompt))) return undefined;
      const { clientId } = client;
      const { accountId: memberId } = account;
      const scopes = [...oidc.requestParamScopes].filter((scope) => SCOPES.includes(scope));
      const app = await apps.find(clientId);
      if (app === undefined) return undefined;
      const used = (await access.find(memberId))?.apps.find((one) => one.clientId === clientId);
      if (!app.isFirstParty) {
        const isAgreed = used !== undefined && scopes.every((one) => used.scopes.includes(one));
        if (!isAgreed || asksEachTime(app)) return undefined;
      }
      // A page may authorize itself each time it loads. That must not end what other devices hold,
      // and a code used twice must not end more than what the page gets back without a question.
      const isSilent = result === undefined;
      const last = session.grantIdFor(clientId) ?? '';
      const isShared = used?.grants.some((one) => one.isSilent && one.sid === digest(last));
      const before = isSilent && isShared ? await provider.Grant.find(last) : undefined;
      const given = { memberId, sessionId: digest(session.uid), scopes, isSilent };
      return grant(provider, app, given, app.isFirstParty === true, before);
    },
    /** The session that a member loses to it ends. */
    beginSession: (...begun: Parameters<typeof access.begin>) =>
      ending([], () => access.begin(...begun)),
    endGrant: (memberId: string, sid: string) =>
      ending([`sid:${sid}`], () => access.endGrant(memberId, sid)),
    async endSession(memberId: string, sessionId: string): Promise<void> {
      const used = (await access.find(memberId))?.apps ?? [];
      const grants = used.flatMap((app) => app.grants).filter((one) => one.sessionId === sessionId);
      const subjects = grants.map(({ sid }) => `sid:${sid}`);
      await ending(subjects, () => access.endSession(memberId, sessionId));
    },
    async revokeApps(memberId: string, clientIds: readonly string[]): Promise<void> {
      const used = await appsOf(memberId);
      // Every gateway keeps what ended in memory, so that nobody may end what there is not.
      const revoked = used.filter((one) => clientIds.includes(one));
      if (revoked.length === 0) return;
      const subjects = revoked.map((clientId) => `app:${memberId}/${clientId}`);
      await ending(subjects, async () => {
        await tokens.takeBack(memberId, revoked);
        // Ending an app ends each of its grants.
        await remove(await access.revoke(memberId, revoked));
        // The member may have agreed again meanwhile.
        await tokens.takeBack(memberId, revoked);
        return [];
      });
    },
    /** Ends what a partner sees, and the tokens that it holds itself. */
    async leave(memberId: string, partnerId: string): Promise<void> {
      if (await store.endEnrollment(partnerId, memberId, true))
        await endedSubjects.end([`app:${memberId}/${partnerId}`]);
    },
    /** The time of new tokens, the claim `iat_ms`, which ends are compared with. */
    async timeOfTokens(memberId: string, clientId: string, now: number): Promise<number> {
      const ends = await Promise.all([
        endedSessions.find(memberId),
        endedSubjects.find(`app:${memberId}/${clientId}`),
      ]);
      return timeOfToken(Math.max(...ends.map((endedAt = 0) => endedAt)), now, refuseFor);
    },
  };
}

/** Any program on the device may claim the URI of such an app (RFC 8252, section 8.6). */
function asksEachTime({ secrets, redirectUris }: App): boolean {
  return secrets === undefined && redirectUris.some(isOnDevice);
}
