// The public list of this package, for the main files and the operator's command.

export { openSurface, type Surface } from './execute/surface.ts';
export { type Gateway, type GatewayParts, openGateway } from './gateway.ts';
export { CHANGELOG_VERSIONS, type ChangelogEntry, changelogOf } from './graph/changelog.ts';
export { readGraphFile, SUPERGRAPH_CONFIG, SUPERGRAPH_FILE } from './graph/committed.ts';
export { subgraphCode, subgraphName } from './graph/config.ts';
export type { GraphStore, GraphVersion, SubgraphEntry, VersionChange } from './graph/graph.ts';
export {
  defaultScopes,
  hashKey,
  issueKey,
  type KeyLimits,
  keyPrefix,
  newKey,
  parseKey,
} from './identity/apikey.ts';
export {
  KEY_ENDPOINTS,
  type KeyEndpoint,
  type KeyRecord,
  type KeyStore,
  type Origin,
  type Partner,
  type PartnerChange,
} from './identity/keystore.ts';
export { datedSdl } from './schema/dated.ts';
export { DEFAULT_SCOPES, KEY_SCOPES, type KeyScope } from './schema/scopes.ts';
export { SURFACES, type SurfaceName, surfaceSdl } from './schema/surfaces.ts';
export { type Serving, serveGateway } from './serve.ts';
export {
  openCounters,
  openGraphStore,
  openKeyStore,
  openUsageStore,
  verifyGraphs,
  verifyKeys,
  verifyUsage,
} from './stores.ts';
export type { FieldUsage, KeyActivity, OperationUsage, UsageStore } from './usage/usagestore.ts';
