// Where oidc-provider stores what it has: payloads by hashed IDs, and apps as its clients.
import { addressBlock } from '@partner-loyalty/runtime/http/address.ts';
import { type Adapter, type AdapterFactory, errors, Provider } from 'oidc-provider';
import { LENGTHS } from '../resolvers/input.ts';
import type { MembersStore } from '../store/store.ts';
import { digest } from '../tables/access.ts';
import type { Payload } from '../tables/payloads.ts';
import type { Grants } from './grants.ts';
import { isOnDevice } from './redirects.ts';
import { refreshTokens } from './refreshtokens.ts';

export type AdapterParts = {
  store: Pick<MembersStore, 'access' | 'apps' | 'partners' | 'payloads'>;
  grants: Pick<Grants, 'endGrant'>;
  issuer: string;
};

/** Returns a function that makes the adapter of a model, as oidc-provider wants it. */
export function createAdapter(parts: AdapterParts): AdapterFactory {
  // Cast: of the methods, oidc-provider calls no others here.
  return (model) => (model === 'Client' ? clients(parts) : payloads(model, parts)) as Adapter;
}

function payloads(model: string, { store, grants, issuer }: AdapterParts) {
  const { access, payloads: table } = store;
  const keyOf = (id: string) => `${model}:${digest(id)}`;
  // Of an interaction; on the pages, none begins or ends.
  const client = () =>
    model === 'Interaction' && Provider.ctx ? addressBlock(Provider.ctx.ip) : undefined;

  /** Whether it has not ended; its row may outlive that. */
  async function isOpen(id: string, { accountId, uid }: Payload): Promise<boolean> {
    if (typeof accountId !== 'string' || (model !== 'Grant' && model !== 'Session')) return true;
    return access.has(accountId, model, digest(model === 'Grant' ? id : String(uid)));
  }

  async function revokeByGrantId(grantId: string): Promise<void> {
    const grant = await table.find(`Grant:${digest(grantId)}`);
    if (typeof grant?.accountId === 'string')
      await grants.endGrant(grant.accountId, digest(grantId));
  }

  const stored = {
    async upsert(id: string, { jti: _, ...payload }: Payload, expiresIn: number): Promise<void> {
      // Of a browser that is not signed in there is nothing to remember, but anybody can send one.
      if (model === 'Session' && payload.accountId === undefined) return;
      const expiresAt = Date.now() + expiresIn * 1_000;
      const kept = model === 'Interaction' ? withoutIds(payload) : payload;
      await table.put(keyOf(id), kept, expiresAt, client());
    },
    async find(id: string): Promise<Payload | undefined> {
      const payload = await table.find(keyOf(id));
      if (payload === undefined || !(await isOpen(id, payload))) return undefined;
      const returnTo = model === 'Interaction' && {
        returnTo: `${issuer}/oauth/authorize/${id}`,
      };
      return { ...payload, ...returnTo, jti: id };
    },
    async consume(id: string): Promise<void> {
      if (await table.consume(keyOf(id), Math.floor(Date.now() / 1_000))) return;
      // Another request was faster, so that this is a reuse: it ends the family.
      const grantId = (await table.find(keyOf(id)))?.grantId;
      if (typeof grantId === 'string') await revokeByGrantId(grantId);
      throw new errors.InvalidGrant('it was used already');
    },
    // A grant ends with its family; codes and tokens are not valid without it.
    destroy: (id: string) =>
      model === 'Grant' ? revokeByGrantId(id) : table.remove(keyOf(id), client()),
    revokeByGrantId,
  };
  return model === 'RefreshToken'
    ? { ...stored, ...refreshTokens(table, revokeByGrantId, stored) }
    : stored;
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
