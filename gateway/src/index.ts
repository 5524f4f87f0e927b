// The public list of this package, for the main files and the operator's command.

export { CHANGELOG_VERSIONS, type ChangelogEntry, changelogOf } from './changelog/changelog.ts';
export { type Gateway, type GatewayParts, openGateway } from './gateway.ts';
export {
  defaultScopes,
  hashKey,
  issueKey,
  type KeyLimits,
  keyPrefix,
  newKey,
  parseKey,
} from './identity/apikey.ts';
export { KEYS_MIGRATION, openKeyStore } from './identity/keystore.open.ts';
export {
  KEY_ENDPOINTS,
  type KeyEndpoint,
  type KeyRecord,
  type KeyStore,
  type Origin,
  type Partner,
  type PartnerChange,
} from './identity/keystore.ts';
export { openCounters, sharedCounters } from './limits/counters.open.ts';
export { SURFACES, type SurfaceName, surfaceSdl } from './planning/contract.ts';
export { DEFAULT_SCOPES, KEY_SCOPES, type KeyScope } from './planning/scopes.ts';
export { type Serving, serveGateway } from './serve.ts';
export { readGraphFile, SUPERGRAPH_CONFIG, SUPERGRAPH_FILE } from './supergraph/committed.ts';
export { subgraphCode, subgraphName } from './supergraph/config.ts';
export type { GraphVersion, SubgraphEntry, VersionChange } from './supergraph/graph.ts';
export { openGraphStore } from './supergraph/graphstore.open.ts';
export type { GraphStore } from './supergraph/graphstore.ts';
export { openSurface, type Surface } from './surface/surface.ts';
export { openUsageStore } from './usage/usagestore.open.ts';
export type { FieldUsage, KeyActivity, OperationUsage, UsageStore } from './usage/usagestore.ts';
export { verifyGraphs, verifyKeys, verifyUsage } from './verify/verify.open.ts';
export { datedSdl } from './versioning/dated.ts';
