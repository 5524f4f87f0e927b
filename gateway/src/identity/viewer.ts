// The gateway's own subgraph: what the key of a request is and may do.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { visibleName } from '@partner-loyalty/runtime/input.ts';
import { GATEWAY_SUBGRAPH } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Subgraph, SubgraphContext } from '@partner-loyalty/runtime/subgraph/types.ts';
import { buildASTSchema, parse } from 'graphql';
import { defaultScopes } from './apikey.ts';
import type { KeyStore } from './keystore.ts';

const SCHEMA = join(import.meta.dirname, '../../schema.graphql');

type ViewerSettings = Pick<Settings, 'environment' | 'rateLimitBudget' | 'rateLimitWindowSeconds'>;

/** Closing it leaves the store open. */
export function createViewer(
  store: Pick<KeyStore, 'key' | 'partner'>,
  settings: ViewerSettings,
): Subgraph {
  // The directives of federation are only for composing.
  const schema = buildASTSchema(parse(readFileSync(SCHEMA, 'utf8')), { assumeValidSDL: true });
  const field = schema.getQueryType()?.getFields().viewer;
  if (field === undefined) throw new Error(`${SCHEMA} has no viewer`);
  field.resolve = (_source, _args, { caller }: SubgraphContext) => {
    if (caller.kind !== 'partner' || caller.keyId === undefined) return fail('FORBIDDEN');
    return viewerOf(store, settings, caller.keyId);
  };
  return { name: GATEWAY_SUBGRAPH, schema, ready: async () => undefined, close: async () => {} };
}

async function viewerOf(
  store: Pick<KeyStore, 'key' | 'partner'>,
  { environment, rateLimitBudget, rateLimitWindowSeconds }: ViewerSettings,
  keyId: string,
) {
  const key = await store.key(keyId);
  const partner = key && (await store.partner(key.partnerId));
  if (key === undefined || partner === undefined) return fail('SERVICE_UNAVAILABLE');
  return {
    partnerId: partner.partnerId,
    partnerName: visibleName(partner.name),
    keyId,
    scopes: key.scopes ?? defaultScopes(key.endpoint ?? 'graphql'),
    expiresAt: key.expiresAt?.toISOString(),
    budget: partner.budget ?? rateLimitBudget,
    windowSeconds: rateLimitWindowSeconds,
    environment,
  };
}
