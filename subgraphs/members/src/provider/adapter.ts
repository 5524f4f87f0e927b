// Where oidc-provider stores what it has: payloads by hashed IDs, and apps as its clients.
import type { Adapter, AdapterFactory } from 'oidc-provider';
import type { MembersStore } from '../store/store.ts';
import { digest } from '../tables/access.ts';
import type { App } from '../tables/apps.ts';
import type { Payload } from '../tables/payloads.ts';
import type { Grants } from './grants.ts';
import { isOnDevice } from './redirects.ts';

export type AdapterParts = {
  store: Pick<MembersStore, 'access' | 'apps' | 'partners' | 'payloads'>;
  grants: Pick<Grants, 'endGrant'>;
  /** Where an interaction leads back to: the ID follows. */
  resumeUrl: string;
  /** The error for a code or a token that somebody else has used. */
  AlreadyUsed: new (
    description: string,
  ) => Error;
};

/** Returns a function that makes the adapter of a model, as oidc-provider wants it. */
export function createAdapter(parts: AdapterParts): AdapterFactory {
  // Cast: of the methods, oidc-provider calls no others here.
  return (model) => (model === 'Client' ? clients(parts) : payloads(model, parts)) as Adapter;
}

function payloads(model: string, { store, grants, resumeUrl, AlreadyUsed }: AdapterParts) {
  const { access, payloads: table } = store;
  const keyOf = (id: string) => `${model}:${digest(id)}`;
  const uidKey = (uid: string) => `uid:${digest(uid)}`;

  /** Whether it has not ended; its row may outlive that. */
  async function isOpen(id: string, { accountId, uid }: Payload): Promise<boolean | undefined> {
    if (typeof accountId !== 'string') return true;
    if (model === 'Grant') return access.hasGrant(accountId, digest(id));
    if (model === 'Session') return access.hasSession(accountId, digest(String(uid)));
    return true;
  }

  async function revokeByGrantId(grantId: string): Promise<void> {
    const grant = await table.find(`Grant:${digest(grantId)}`);
    if (typeof grant?.accountId === 'string')
      await grants.endGrant(grant.accountId, digest(grantId));
  }

  return {
    async upsert(id: string, { jti: _, ...payload }: Payload, expiresIn: number): Promise<void> {
      const expiresAt = Date.now() + expiresIn * 1_000;
      const kept = model === 'Interaction' ? withoutIds(payload) : payload;
      await table.put(keyOf(id), kept, expiresAt);
      if (model === 'Session')
        await table.put(uidKey(String(payload.uid)), { key: keyOf(id) }, expiresAt);
    },
    async find(id: string): Promise<Payload | undefined> {
      const payload = await table.find(keyOf(id));
      if (payload === undefined || !(await isOpen(id, payload))) return undefined;
      const returnTo = model === 'Interaction' && { returnTo: `${resumeUrl}${id}` };
      return { ...payload, ...returnTo, jti: id };
    },
    async findByUid(uid: string): Promise<Payload | undefined> {
      const key = (await table.find(uidKey(uid)))?.key;
      return typeof key === 'string' ? table.find(key) : undefined;
    },
    async consume(id: string): Promise<void> {
      if (await table.consume(keyOf(id), Math.floor(Date.now() / 1_000))) return;
      // Another request was faster, so that this is a reuse: it ends the family.
      const grantId = (await table.find(keyOf(id)))?.grantId;
      if (typeof grantId === 'string') await revokeByGrantId(grantId);
      throw new AlreadyUsed('it was used already');
    },
    // A grant ends with its family; codes and tokens are not valid without it.
    destroy: (id: string) => (model === 'Grant' ? revokeByGrantId(id) : table.remove(keyOf(id))),
    revokeByGrantId,
  };
}

/** The interaction without its own ID and that of the session: browsers hold them. */
function withoutIds({ returnTo: _, session, ...payload }: Payload): Payload {
  // Cast: oidc-provider stores an object there, or nothing.
  const { cookie: __, ...rest } = (session ?? {}) as Payload;
  return { ...payload, ...(session !== undefined && { session: rest }) };
}

function clients({ store }: AdapterParts) {
  return {
    /** The app as client metadata; none if its partner is suspended. */
    async find(clientId: string) {
      const app = await store.apps.find(clientId);
      const partner = app && (await store.partners.get(app.partnerId));
      return app === undefined || partner?.isSuspended ? undefined : metadataOf(app);
    },
  };
}

function metadataOf({ clientId, name, redirectUris, secrets }: App) {
  return {
    client_id: clientId,
    client_name: name,
    redirect_uris: redirectUris,
    post_logout_redirect_uris: redirectUris,
    application_type: redirectUris.some(isOnDevice) ? 'native' : 'web',
    token_endpoint_auth_method: secrets === undefined ? 'none' : 'client_secret_basic',
    grant_types: ['authorization_code', 'refresh_token'],
    response_modes: ['query'],
    ...(secrets && { client_secret: JSON.stringify(secrets) }),
  };
}
