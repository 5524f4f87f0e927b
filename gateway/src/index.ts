// The public list of this package, for the main files and the operator's command.

export { CHANGELOG_VERSIONS, changelogOf } from './graph/changelog.ts';
export { readGraphFile, SUPERGRAPH_CONFIG, SUPERGRAPH_FILE } from './graph/committed.ts';
export { subgraphName } from './graph/config.ts';
export type { GraphStore, GraphVersion } from './graph/graph.ts';
export type { RegistryTables } from './graph/tables.ts';
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
  createKey,
  keysWithUse,
  rotateKey,
  stateOfKey,
} from './identity/keys.ts';
export {
  KEY_ENDPOINTS,
  type KeyEndpoint,
  type KeyRecord,
  type KeyStore,
  type Partner,
  type PartnerChange,
} from './identity/keystore.ts';
export {
  inviteStaff,
  listStaff,
  MAX_STAFF,
  makeDemoToken,
  removeStaff,
  STAFF_ROLES,
  type Staff,
  type StaffRole,
} from './identity/staff.ts';
export type { GatewayExtension } from './ports.ts';
export { DEFAULT_SCOPES, KEY_SCOPES, type KeyScope } from './schema/scopes.ts';
export { SURFACE_NAMES, type SurfaceName, surfaceSdl } from './schema/surfaces.ts';
export { openStore, serveGateway } from './serve.ts';
export {
  openCounters,
  openGraphStore,
  openKeyStore,
  openUsageStore,
  verifyGraphs,
  verifyKeys,
  verifyUsage,
} from './stores.ts';
export { hourOf, quantile, type RequestRecord, sumOf } from './usage/requests.ts';
export type { FieldUsage, KeyActivity, OperationUsage, UsageStore } from './usage/usagestore.ts';
