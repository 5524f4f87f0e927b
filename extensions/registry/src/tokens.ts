// The tokens with which teams publish their subgraphs, made and ended by operators.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { RegistryTables, SubgraphToken } from '@partner-loyalty/gateway/graph/tables.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { omitUndefined } from '@partner-loyalty/runtime/input.ts';
import type { Publisher } from './request.ts';

const DAY_MS = 86_400_000;
/** The lifetime of a token, unless another one is given. */
export const TOKEN_LIFETIME_MS = 90 * DAY_MS;
export const MAX_TOKEN_LIFETIME_MS = 366 * DAY_MS;
/** How long a token works on after its rotation. */
const OVERLAP_MS = DAY_MS;

/** The text of a token is shown once: only its hash is stored. */
type IssuedToken = Pick<SubgraphToken, 'tokenId' | 'subgraph' | 'owner'> & {
  token: string;
  expiresAt: Date;
};

type TokenTables = Pick<RegistryTables, 'tokens'>;

/** Makes a token for a subgraph, which need not be published yet. */
export async function createToken(
  { tokens }: TokenTables,
  made: Pick<SubgraphToken, 'subgraph' | 'owner' | 'lifetimeMs'>,
): Promise<IssuedToken> {
  const token = `st_${randomBytes(32).toString('base64url')}`;
  const createdAt = Date.now();
  const expiresAt = createdAt + made.lifetimeMs;
  const row = { tokenId: tokenIdOf(token), hash: hash('sha256', token), createdAt, expiresAt };
  await tokens.put({ ...row, ...made });
  const { subgraph, owner } = made;
  return { tokenId: row.tokenId, token, subgraph, owner, expiresAt: new Date(expiresAt) };
}

/**
 * Makes a token like an active one, and ends that one a day later, unless it ends earlier anyway.
 * Resolves with its state if it is not active, and with undefined if there is none with the ID.
 */
export async function rotateToken(
  tables: TokenTables,
  tokenId: string,
): Promise<IssuedToken | 'expired' | 'revoked' | undefined> {
  const former = await tables.tokens.get(tokenId);
  if (former === undefined) return undefined;
  const state = stateOfToken(former);
  if (state !== 'active') return state;
  const { subgraph, owner, lifetimeMs } = former;
  // The new one comes first: if this is interrupted, the former one works as before.
  const issued = await createToken(tables, { subgraph, owner, lifetimeMs });
  const endsAt = Date.now() + OVERLAP_MS;
  await tables.tokens.update(
    tokenId,
    (row) => row && { ...row, expiresAt: Math.min(row.expiresAt, endsAt) },
  );
  return issued;
}

/** Undefined if there is no such token. A token that is revoked already keeps its time. */
export function revokeToken(
  { tokens }: TokenTables,
  tokenId: string,
): Promise<SubgraphToken | undefined> {
  const revokedAt = Date.now();
  return tokens.update(tokenId, (row) => row && { revokedAt, ...row });
}

/** The tokens in the order of their creation. */
export async function listTokens({ tokens }: TokenTables) {
  const rows = await tokens.select(() => true);
  return rows
    .sort((one, other) => one.createdAt - other.createdAt)
    .map((row) => {
      const { tokenId, subgraph, owner, createdAt, expiresAt } = row;
      const times = { createdAt: new Date(createdAt), expiresAt: new Date(expiresAt) };
      return omitUndefined({ tokenId, subgraph, owner, state: stateOfToken(row), ...times });
    });
}

export function stateOfToken({
  expiresAt,
  revokedAt,
}: Pick<SubgraphToken, 'expiresAt' | 'revokedAt'>): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt <= Date.now() ? 'expired' : 'active';
}

/** The active token with this text; `get` finds a row by its ID. */
export async function findToken(
  get: (tokenId: string) => SubgraphToken | undefined | Promise<SubgraphToken | undefined>,
  text: string,
): Promise<SubgraphToken | undefined> {
  if (!/^st_[\w-]{43}$/.test(text)) return undefined;
  const row = await get(tokenIdOf(text));
  if (row === undefined || stateOfToken(row) !== 'active') return undefined;
  const isSame = timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash('sha256', text)));
  return isSame ? row : undefined;
}

/** Throws UNAUTHENTICATED if the token of a team has ended since it was found. */
export async function requireActive({ tokens }: TokenTables, publisher: Publisher): Promise<void> {
  if (publisher.kind === 'operator') return;
  const row = await tokens.get(publisher.tokenId);
  if (row === undefined || stateOfToken(row) !== 'active') refuseToken();
}

export function refuseToken(): never {
  return fail('UNAUTHENTICATED', 'the token is missing or not valid');
}

/** A quarter of the hash, which reveals nothing about the token. */
function tokenIdOf(token: string): string {
  return `token_${hash('sha256', token).slice(0, 16)}`;
}
