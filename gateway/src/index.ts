// The public list of this package, for the main files and the operator's command.

export { readGraphFile, SUPERGRAPH_FILE } from './graph/committed.ts';
export type { GraphStore } from './graph/graph.ts';
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
export { SURFACE_NAMES, type SurfaceName } from './schema/surfaces.ts';
export { openStore, serveGateway } from './serve.ts';
export {
  openCounters,
  openGraphStore,
  openKeyStore,
} from './stores.ts';
export { verifyGraphs } from './verify/graphs.ts';
export { verifyKeys } from './verify/keys.ts';
