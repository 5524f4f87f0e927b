// Where oidc-provider stores what it has: payloads by hashed IDs, and apps as its clients.

import type { MembersCore } from '@partner-loyalty/members/ports.ts';
import { LENGTHS } from '@partner-loyalty/members/resolvers/input.ts';
import { REPEAT_MS } from '@partner-loyalty/members/rules/mailedtoken.ts';
import { digest } from '@partner-loyalty/members/tables/access.ts';
import type { Payload } from '@partner-loyalty/members/tables/payloads.ts';
import { type Adapter, type AdapterFactory, errors, Provider } from 'oidc-provider';
import type { Authorizations } from './authorizations.ts';
import type { Grants } from './grants.ts';
import { isOnDevice } from './redirects.ts';
import { countUse, refreshTokens } from './refreshtokens.ts';

type AdapterParts = Pick<MembersCore, 'store'> & {
  grants: Pick<Grants, 'endGrant'>;
  authorizations: Authorizations;
};

/** Returns a function that makes the adapter of a model, as oidc-provider wants it. */
export function createAdapter(parts: AdapterParts): AdapterFactory {
  // Cast: of the methods, oidc-provider calls no others here.
  return (model) => modelOf(model, parts) as Adapter;
}

/** Who has signed in, by a mail to which address, in milliseconds since 1970. */
export type Login = { accountId: string; address: string; at: number };

function modelOf(model: string, parts: AdapterParts) {
  if (model === 'Client') return clients(parts);
  return model === 'Interaction' ? answers(parts) : payloads(model, parts);
}

function payloads(model: string, { store, grants }: AdapterParts) {
  const { access, payloads: table } = store;
  const keyOf = (id: string) => `${model}:${digest(id)}`;

  /** Whether it has not ended; its row may outlive that. */
  async function isOpen(id: string, { accountId, uid }: Payload): Promise<boolean> {
    if (typeof accountId !== 'string' || (model !== 'Grant' && model !== 'Session')) return true;
    return access.has(accountId, model, digest(model === 'Grant' ? id : String(uid)));
  }

  /** oidc-provider never forgets an app in a session, even if the member has revoked it. */
  async function withUsedApps(session: Payload): Promise<Payload | undefined> {
    const { accountId, authorizations } = session;
    // A session without an account holds nothing to remember, but anybody can send one.
    if (typeof accountId !== 'string') return undefined;
    const { apps = [] } = (await access.find(accountId)) ?? {};
    const ofApps = Object.entries(authorizations ?? {}).filter(([clientId]) =>
      apps.some((app) => app.clientId === clientId),
    );
    return { ...session, authorizations: Object.fromEntries(ofApps) };
  }

  async function revokeByGrantId(grantId: string): Promise<void> {
    const grant = await table.find(`Grant:${digest(grantId)}`);
    if (typeof grant?.accountId === 'string')
      await grants.endGrant(grant.accountId, digest(grantId));
  }

  if (model === 'RefreshToken')
    return { ...refreshTokens(table, revokeByGrantId), revokeByGrantId };
  return {
    async upsert(id: string, { jti: _, ...payload }: Payload, expiresIn: number): Promise<void> {
      const kept = model === 'Session' ? await withUsedApps(payload) : payload;
      if (kept !== undefined) await table.put(keyOf(id), kept, Date.now() + expiresIn * 1_000);
    },
    async find(id: string): Promise<Payload | undefined> {
      const payload = await table.find(keyOf(id));
      if (payload === undefined || !(await isOpen(id, payload))) return undefined;
      return { ...payload, jti: id };
    },
    /** Of what is stored here, only a code is used up. */
    async consume(id: string): Promise<void> {
      await countUse(table, 'Codes', (await table.find(keyOf(id))) ?? {});
      if (await table.consume(keyOf(id), Math.floor(Date.now() / 1_000))) return;
      // Another request was faster, so that this is a reuse: it ends the family.
      const grantId = (await table.find(keyOf(id)))?.grantId;
      if (typeof grantId === 'string') await revokeByGrantId(grantId);
      throw new errors.InvalidGrant('it was used already');
    },
    async destroy(id: string): Promise<void> {
      // A grant ends with its family; codes and tokens are not valid without it.
      if (model === 'Grant') return revokeByGrantId(id);
      if (model !== 'Session') return table.remove(keyOf(id));
      // Not open any more, but known as long as what began it can be repeated.
      const { accountId } = (await table.find(keyOf(id))) ?? {};
      if (accountId) await table.put(keyOf(id), { accountId }, Date.now() + REPEAT_MS);
    },
    revokeByGrantId,
  };
}

/** What members have answered. A question is in the path of its page. */
function answers({ store, authorizations }: AdapterParts) {
  /** False once the member's sessions were ended, or the address is not the member's or locked. */
  async function isCurrent({ accountId: memberId, address, at }: Login): Promise<boolean> {
    if (((await store.endedSessions.find(memberId)) ?? 0) >= at) return false;
    return (await store.tokens.confirmSignIn(memberId, { address })) !== undefined;
  }

  return {
    upsert: async () => undefined,
    async find(id: string): Promise<Payload | undefined> {
      const answer = Provider.ctx && (await authorizations.answered(Provider.ctx, id));
      // Cast: what the page of the provider has answered with.
      const login = (answer?.result as { login?: Login } | undefined)?.login;
      if (login !== undefined && !(await isCurrent(login))) return undefined;
      return answer && { ...answer, jti: id };
    },
    async destroy(id: string): Promise<void> {
      if (!Provider.ctx || !(await authorizations.use(Provider.ctx, id)))
        throw new errors.SessionNotFound('the answer was used already');
    },
  };
}

function clients({ store }: AdapterParts) {
  return {
    /** The app as client metadata; none if its partner is suspended. */
    async find(clientId: string) {
      // LMDB has no longer keys, and would fail.
      if (clientId.length > LENGTHS.id) return undefined;
      const app = await store.apps.find(clientId);
      const partner = app && (await store.partners.get(app.partnerId));
      if (app === undefined || partner?.isSuspended) return undefined;
      const { redirectUris, secrets } = app;
      return {
        client_id: clientId,
        redirect_uris: redirectUris,
        post_logout_redirect_uris: redirectUris,
        application_type: redirectUris.some(isOnDevice) ? 'native' : 'web',
        token_endpoint_auth_method: secrets === undefined ? 'none' : 'client_secret_basic',
        grant_types: ['authorization_code', 'refresh_token'],
        response_modes: ['query'],
        ...(secrets && { client_secret: JSON.stringify(secrets) }),
      };
    },
  };
}
