// What an app may have of a member: agreed to once, and granted anew with each authorization.
import type { Client, Context, Grant, Provider, RequestContext } from 'oidc-provider';
import type { MembersStore } from '../store/store.ts';
import { SCOPES } from './claims.ts';
import { digest } from './digest.ts';

type GrantParts = { store: Pick<MembersStore, 'access'>; issuer: string };

export function createGrants({ store: { access }, issuer }: GrantParts) {
  /** Records a new grant with the member, and stores it. */
  async function grant(
    provider: Provider,
    { clientId }: Client,
    { memberId, sessionId, scopes }: { memberId: string; sessionId: string; scopes: string[] },
  ): Promise<string> {
    const made = new provider.Grant({ accountId: memberId, clientId });
    made.addOIDCScope(scopes.join(' '));
    made.addResourceScope(issuer, scopes.join(' '));
    const grantId = await made.save();
    await access.agree(memberId, clientId, scopes, Date.now());
    await access.grant(memberId, clientId, { sid: digest(grantId), sessionId });
    return grantId;
  }

  return {
    grant,
    /** The grant that an authorization may use; undefined if the member has to agree first. */
    async load(
      provider: Provider,
      { oidc }: Context & { oidc: RequestContext },
    ): Promise<Grant | undefined> {
      const { client, session, account, result } = oidc;
      if (result?.consent !== undefined) return provider.Grant.find(result.consent.grantId);
      if (client === undefined || session === undefined || account === undefined) return undefined;
      if (['login', 'consent'].some((prompt) => oidc.promptPending(prompt))) return undefined;
      const { accountId: memberId } = account;
      const scopes = [...oidc.requestParamScopes].filter((scope) => SCOPES.includes(scope));
      if (!client.is_first_party) {
        const { apps = [] } = (await access.find(memberId)) ?? {};
        const agreed = apps.find(({ clientId }) => clientId === client.clientId)?.scopes ?? [];
        const isAgreed = scopes.every((scope) => agreed.includes(scope)) && agreed.length > 0;
        if (!isAgreed || asksEachTime(client)) return undefined;
      }
      const sessionId = digest(session.uid);
      const grantId = await grant(provider, client, { memberId, sessionId, scopes });
      return provider.Grant.find(grantId);
    },
  };
}

/** Any program on the device may claim the URI of such an app (RFC 8252, section 8.6). */
export function asksEachTime({ applicationType, clientAuthMethod }: Client): boolean {
  return applicationType === 'native' && clientAuthMethod === 'none';
}
