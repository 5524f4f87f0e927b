// Refresh tokens: a row for each grant with the current token of each family, and no used ones.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { digest } from '@partner-loyalty/members/tables/access.ts';
import type { Payload, PayloadStore } from '@partner-loyalty/members/tables/payloads.ts';
import { errors, Provider } from 'oidc-provider';

/**
 * What came of one code. `generation` counts how often it was refreshed; `hash` is that of its
 * current token, absent while a refresh is in progress.
 */
type Family = { generation: number; hash?: string; payload: Payload };
/** Silent authorizations of a session share a grant. `paidUntil` limits its refreshes. */
type GrantRow = { accountId: string; paidUntil?: number; families: Record<string, Family> };

/** The families that were refreshed last are kept. */
const MAX_FAMILIES = 20;
/** A grant can be refreshed 10 times at once, then once in 10 seconds. */
const REFRESH_MS = 10_000;
const MAX_AT_ONCE = 10;
/** All grants of a member, in a minute; as many codes can be exchanged. */
const MAX_OF_MEMBER = 100;
/** One app of the member, so that it leaves some to the others. */
const MAX_OF_APP = 30;
const WINDOW_MS = 60_000;

/** The hash of the grant and the name of the family; the generation; random bytes and the MAC. */
const FORM = /^(([\w-]{43})([\w-]{11})\.(\d{1,9})\.[\w-]{43})([\w-]{43})$/;

/** Undefined for what is no token. */
function parse(token: string) {
  const [, signed, sid, family, generation, mac] = FORM.exec(token) ?? [];
  if (!signed || !sid || !family || !mac) return undefined;
  return { key: refreshKey(sid), signed, family, generation: Number(generation), mac };
}

/** The row of a grant. */
export const refreshKey = (sid: string) => `RefreshToken:${sid}`;

/** Only this service knows the ID of a grant: others know its hash. */
function macOf(grantId: string, signed: string): string {
  return createHmac('sha256', grantId).update(signed).digest('base64url');
}

/** The token that follows `used` in its family, or the first one of a new family. */
export function nextToken(grantId: string, used = ''): string {
  const { family, generation } = parse(used) ?? { generation: -1 };
  const name = family ?? randomBytes(8).toString('base64url');
  const random = randomBytes(32).toString('base64url');
  const signed = `${digest(grantId)}${name}.${generation + 1}.${random}`;
  return `${signed}${macOf(grantId, signed)}`;
}

/** What oidc-provider stores of refresh tokens. `endGrant` ends the families of a grant. */
export function refreshTokens(
  payloads: PayloadStore,
  endGrant: (grantId: string) => Promise<void>,
) {
  // Cast: only `upsert` and `consume` write such rows.
  const rowOf = async (key: string) => (await payloads.find(key)) as GrantRow | undefined;

  return {
    async upsert(id: string, { jti: _, ...payload }: Payload, expiresIn: number): Promise<void> {
      const token = parse(id);
      if (token === undefined) throw new Error('not a refresh token');
      const { key, family, generation } = token;
      await payloads.change(key, (before, now) => {
        const row = before?.payload as GrantRow | undefined;
        const { [family]: last, ...others } = row?.families ?? {};
        if (generation > 0 && last === undefined) return before;
        const kept = Object.fromEntries(Object.entries(others).slice(1 - MAX_FAMILIES));
        const families = { ...kept, [family]: { generation, hash: digest(id), payload } };
        return {
          payload: { ...row, accountId: payload.accountId, families },
          expiresAt: Math.max(before?.expiresAt ?? 0, now + expiresIn * 1_000),
        };
      });
    },
    /** With `consumed` if the token is an older one of its family. */
    async find(id: string): Promise<Payload | undefined> {
      const token = parse(id);
      if (token === undefined) return undefined;
      const { families = {} } = (await rowOf(token.key)) ?? {};
      const family = Object.hasOwn(families, token.family) ? families[token.family] : undefined;
      if (family === undefined) return undefined;
      if (family.hash === digest(id)) return { ...family.payload, jti: id };
      const mac = macOf(String(family.payload.grantId), token.signed);
      const isOlder =
        token.generation < family.generation &&
        timingSafeEqual(Buffer.from(mac), Buffer.from(token.mac));
      return isOlder ? { ...family.payload, jti: id, consumed: family.payload.iat } : undefined;
    },
    async consume(id: string): Promise<void> {
      const token = parse(id);
      const row = token && (await rowOf(token.key));
      if (token === undefined || row === undefined) throw new errors.InvalidGrant('it has ended');
      const { key, family } = token;
      const now = Date.now();
      refuseFor(paidBy(row, now) - now - (MAX_AT_ONCE - 1) * REFRESH_MS);
      await countUse(payloads, 'Refreshes', { ...row.families[family]?.payload, ...row });
      const hash = digest(id);
      const isUsed = await payloads.change(key, (before, now) => {
        const row = before?.payload as GrantRow | undefined;
        const current = row?.families[family];
        if (before === undefined || row === undefined || current?.hash !== hash) return before;
        const { payload, generation } = current;
        const families = { ...row.families, [family]: { payload, generation: generation + 1 } };
        const paidUntil = paidBy(row, now) + REFRESH_MS;
        return { ...before, payload: { ...row, families, paidUntil } };
      });
      if (isUsed) return;
      // Another request was faster, so that this is a reuse.
      const grantId = row.families[family]?.payload.grantId;
      if (typeof grantId === 'string') await endGrant(grantId);
      throw new errors.InvalidGrant('it was used already');
    },
    /** Whatever removes a token ends its grant, with which the row goes. */
    destroy: async () => undefined,
  };
}

/** What a member's apps have used in a window: in all, and by client ID. */
type Uses = { count?: number; apps?: Record<string, number> };

/** Counts that an app of the member gets tokens, and fails if there were too many. */
export async function countUse(
  payloads: Pick<PayloadStore, 'change'>,
  name: 'Codes' | 'Refreshes',
  { accountId, clientId }: Payload,
): Promise<void> {
  let waitMs = 0;
  await payloads.change(`${name}:${digest(String(accountId))}`, (before, now) => {
    const isOpen = before !== undefined && before.expiresAt > now;
    const expiresAt = Math.min(
      isOpen ? before.expiresAt : Number.POSITIVE_INFINITY,
      now + WINDOW_MS,
    );
    // Cast: nothing else writes such rows.
    const { count = 0, apps = {} } = (isOpen ? before.payload : {}) as Uses;
    const ofApp = apps[String(clientId)] ?? 0;
    waitMs = count < MAX_OF_MEMBER && ofApp < MAX_OF_APP ? 0 : expiresAt - now;
    if (waitMs > 0) return before;
    const counted = { ...apps, [String(clientId)]: ofApp + 1 };
    return { payload: { accountId, count: count + 1, apps: counted }, expiresAt };
  });
  refuseFor(waitMs);
}

/** The clock may have been put back. */
function paidBy({ paidUntil = 0 }: Pick<GrantRow, 'paidUntil'>, now: number): number {
  return Math.max(now, Math.min(paidUntil, now + MAX_AT_ONCE * REFRESH_MS));
}

/** Refuses a request for tokens, unless there is nothing to wait for. */
export function refuseFor(waitMs: number): void {
  if (waitMs <= 0) return;
  Provider.ctx?.set('retry-after', `${Math.ceil(waitMs / 1_000)}`);
  const error = new errors.CustomOIDCProviderError('temporarily_unavailable', 'too many tokens');
  throw Object.assign(error, { status: 429, statusCode: 429 });
}
