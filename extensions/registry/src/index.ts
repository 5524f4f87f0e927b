// The public list of the registry, for the operator's command.

export { committedContent, currentContent } from '@partner-loyalty/gateway/graph/committed.ts';
export type { RegistryTables } from '@partner-loyalty/gateway/graph/tables.ts';
export { requireServed } from './ask.ts';
export { countLevels, inUse, users } from './change.ts';
export { refuseReservedName, refuseSharedVariables } from './entry.ts';
export { noticing } from './publish/asked.ts';
export type { CheckedChange } from './publish/inuse.ts';
export type { Notice } from './publish/notices.ts';
export { runOperation } from './registry.ts';
export {
  MAX_SCHEMA_BYTES,
  type Outcome,
  READING,
  type Registry,
  type RegistryRequest,
  subgraphCodes,
} from './request.ts';
export {
  createToken,
  listTokens,
  MAX_TOKEN_LIFETIME_MS,
  revokeToken,
  rotateToken,
  TOKEN_LIFETIME_MS,
} from './tokens.ts';
