// Requests of apps that nobody has answered: sealed in the path of their page, for one browser.
import { createHmac, randomBytes } from 'node:crypto';
import type { KeyVault, SigningKey } from '@partner-loyalty/members/signingkeys/signingkey.ts';
import { digest } from '@partner-loyalty/members/tables/access.ts';
import type { Payload, PayloadStore } from '@partner-loyalty/members/tables/payloads.ts';
import { createVault } from '@partner-loyalty/runtime/store/vault.ts';
import { type KoaContextWithOIDC as Context, errors, type Interaction } from 'oidc-provider';
import type { Sessions } from './sessions.ts';

/** In seconds: how long the member may take. */
export const AUTHORIZATION_SECONDS = 1_800;

/** What a path can have, and stores and logs of proxies. */
const MAX_CHARACTERS = 2_000;
const MAX_STATE = 1_024;

export type Authorizations = ReturnType<typeof createAuthorizations>;
type Answer = NonNullable<Interaction['result']>;

/**
 * Seals with the first of `secrets`, and opens what any of them has sealed. Only answers are
 * stored, and that they were used.
 */
export function createAuthorizations(
  secrets: readonly string[],
  payloads: PayloadStore,
  { cookieName, setCookie }: Pick<Sessions, 'cookieName' | 'setCookie'>,
) {
  const cookie = cookieName('authorization');

  function heldBy(ctx: Context): string | undefined {
    const held = ctx.cookies.get(cookie) ?? '';
    return /^[\w-]{43}$/.test(held) ? held : undefined;
  }

  const vaultOf = (held: string, secret = '') =>
    createVault(createHmac('sha256', secret).update(`authorization ${held}`).digest('base64'));

  /** The row of an answer, which only the browser can find. */
  const keyOf = (uid: string, held = '') => `Interaction:${digest(`${uid}\n${held}`)}`;

  return {
    async seal(ctx: Context, interaction: Interaction): Promise<string> {
      const { uid, exp, prompt, params, trusted, session, lastSubmission, grantId, cid } =
        interaction;
      const held = heldBy(ctx) ?? randomBytes(32).toString('base64url');
      setCookie(ctx, cookie, held, AUTHORIZATION_SECONDS * 1_000);
      const { cookie: _, ...of } = session ?? { cookie: undefined };
      // Details of the prompt repeat the parameters.
      const asked = { ...prompt, details: {} };
      const kept = { uid, exp, prompt: asked, params, trusted, lastSubmission, grantId, cid };
      const text = JSON.stringify({ ...kept, ...(session && { session: of }) });
      return vaultOf(held, secrets[0]).seal(text);
    },

    /** Undefined if it has expired, is another browser's, or its answer was used. */
    async open(ctx: Context, sealed: string): Promise<Interaction | undefined> {
      const held = heldBy(ctx);
      if (held === undefined) return undefined;
      for (const secret of secrets) {
        const text = await vaultOf(held, secret)
          .unseal(sealed)
          .catch(() => undefined);
        if (text === undefined) continue;
        // Cast: what `seal` has kept of it.
        const interaction: Interaction = JSON.parse(text);
        if (interaction.exp * 1_000 <= Date.now()) return undefined;
        const answered = await payloads.find(keyOf(interaction.uid, held));
        return answered?.isUsed === true ? undefined : interaction;
      }
      return undefined;
    },

    /** Keeps what a member has answered, until the browser goes on with it. */
    answer(ctx: Context, { uid, ...asked }: Interaction, result: Answer): Promise<boolean> {
      const accountId = result.login?.accountId ?? asked.session?.accountId;
      const payload = { ...asked, kind: 'Interaction', accountId, result };
      return payloads.change(keyOf(uid, heldBy(ctx)), (before) =>
        before?.payload.isUsed === true ? before : { payload, expiresAt: asked.exp * 1_000 },
      );
    },

    async answered(ctx: Context, uid: string): Promise<Payload | undefined> {
      const answered = await payloads.find(keyOf(uid, heldBy(ctx)));
      return answered?.isUsed === true ? undefined : answered;
    },

    /** False if it was used already: of many at the same time, one gets true. */
    use: (ctx: Context, uid: string) =>
      payloads.change(keyOf(uid, heldBy(ctx)), (before) =>
        before === undefined || before.payload.isUsed === true
          ? before
          : { ...before, payload: { isUsed: true } },
      ),
  };
}

/** Never true, but fails if an app's request is too long to be sealed in a path. */
export function isTooLong({ path, querystring, oidc }: Context): boolean {
  // When the browser goes on, it was checked before.
  if (path !== '/oauth/authorize') return false;
  const fail = (what: string, most: number) => {
    throw new errors.InvalidRequest(`${what} must have at most ${most} characters`);
  };
  if (String(oidc.params?.state ?? '').length > MAX_STATE) fail('state', MAX_STATE);
  if (querystring.length > MAX_CHARACTERS) fail('the request', MAX_CHARACTERS);
  return false;
}

/** Cookies of oidc-provider for a single request, which browsers do not get. */
export const NO_COOKIES = { interaction: 'interaction', resume: 'resume' };

/** The ID of an answer is in the path, where oidc-provider looks for a cookie. */
export function withoutCookies(ctx: Context): void {
  const { cookies } = ctx;
  const [, uid] = /^\/oauth\/authorize\/(.+)/.exec(ctx.path) ?? [];
  const { get, set } = cookies;
  cookies.get = (name, options) =>
    name === NO_COOKIES.resume ? uid : get.call(cookies, name, options);
  cookies.set = (name, ...rest) =>
    Object.values(NO_COOKIES).includes(name) ? cookies : set.call(cookies, name, ...rest);
}

/**
 * The next key becomes the current one, so that what is sealed with it outlasts a rotation. The
 * secrets are the private keys that there are, the next one first.
 */
export async function secretsOf(keys: readonly SigningKey[], unseal: KeyVault['unseal']) {
  const secrets = await Promise.all(
    keys
      .flatMap((key) => (key.state === 'retired' ? [] : [key]))
      .toSorted((one) => (one.state === 'next' ? -1 : 1))
      .map(async ({ privateKey }) => (await unseal(privateKey)).d),
  );
  return secrets.filter((secret) => secret !== undefined);
}
