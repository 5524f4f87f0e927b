// The public list of this package: what the gateway, the subgraphs and the main files share.

export { type Cache, type Caches, createCaches } from './cache/caches.ts';
export { compactText } from './cache/compact.ts';
export { bytesOfDocument, eachNode, forgetLocations } from './cache/document.ts';
export type { Environment } from './environment.ts';
export {
  ApiError,
  codesOf,
  detailsIn,
  ERRORS,
  type ErrorCode,
  type ErrorDetails,
  type ErrorRow,
  fail,
  isErrorCode,
  isServerError,
  isSubgraphCode,
} from './errors.ts';
export { afterPoll, pollDone } from './eventloop/afterpoll.ts';
export { batchLoad } from './eventloop/batchload.ts';
export { mergeCalls } from './eventloop/mergecalls.ts';
export { addressBlock, addressCheck } from './http/address.ts';
export { HEADERS } from './http/headers.ts';
export { errorReply, type HttpReply, type ReplyObserver } from './http/reply.ts';
export type { HttpRequest } from './http/request.ts';
export { type HttpServer, serveHttp } from './http/server.ts';
export {
  createParser,
  integer,
  isLongerThan,
  omitUndefined,
  optional,
  type Parsed,
  quoted,
  text,
  textFault,
} from './input.ts';
export { isJsonObject } from './json.ts';
export { allMaybe, type MaybePromise, mapMaybe } from './maybe.ts';
export { LOG_FIELDS, type LogFields } from './observe/fields.ts';
export { createLog, jsonFields, type Log } from './observe/log.ts';
export {
  createMetrics,
  METRICS,
  type Metrics,
} from './observe/metrics.ts';
export { outputOf } from './observe/output.ts';
export { withoutSecrets } from './observe/secrets.ts';
export type { Trace, TraceAttributes, Tracing } from './observe/tracing/trace.ts';
export { settingsOrExit } from './process/failedstart.ts';
export type { Lifecycle } from './process/lifecycle.ts';
export { openPorts } from './process/ports.ts';
export {
  type DependencyState,
  failureOf,
  type Readiness,
  storeReadiness,
} from './process/readiness.ts';
export { createRelay, serveRelay } from './process/relay.ts';
export { RUN } from './process/run.ts';
export { openTracing } from './process/tracing.ts';
export { runWorkers } from './process/workers.ts';
export { cidrRange, subgraphUrl } from './settings/schemas.ts';
export { readEnv, readSettings } from './settings/settings.ts';
export {
  OWN_SUBGRAPHS,
  SUBGRAPH_SETTINGS,
  type SubgraphSettings,
  settingsOfSubgraph,
  variableOf,
} from './settings/subgraphs.ts';
export { hostInUrl, type ProcessName, SETTINGS, type Settings } from './settings/table.ts';
export { backupStores, type StoreCopy } from './store/backup.ts';
export { FORMATS } from './store/format.ts';
export {
  AlreadyCompacting,
  type Compacted,
  compactStores,
} from './store/generations/compact.lmdb.ts';
export type { StoreRoot } from './store/generations/follow.lmdb.ts';
export { openNowOrLater } from './store/later.ts';
export { type EmbeddedStore, type LmdbMigration, openLmdb } from './store/lmdb.ts';
export { type LmdbMarks, openLmdbMarks } from './store/marks/marks.lmdb.ts';
export type { MongoMigration } from './store/migrate.mongo.ts';
export { migrateStore, type StoreMigration } from './store/migrate.open.ts';
export type { Migrated, MigrationOptions } from './store/migrate.ts';
export { outageOf } from './store/outage.ts';
export { EMBEDDED_STORES, makePrivateFolder, type StoreName } from './store/private.ts';
export {
  findDamageIn,
  type Inspection,
  type Snapshot,
  UNREADABLE,
  withSnapshot,
} from './store/snapshot.lmdb.ts';
export { DATE_TIME } from './subgraph/datetime.ts';
export { createExecutor, type Execute, unavailable } from './subgraph/executor.ts';
export type { CompleteResolvers } from './subgraph/resolvers.ts';
export { expandedSelections } from './subgraph/selections.ts';
export type {
  Scope,
  Subgraph,
  SubgraphContext,
  SubgraphError,
  SubgraphReply,
  SubgraphRequest,
  Transport,
} from './subgraph/types.ts';
export { SubgraphUnavailable } from './subgraph/unavailable.ts';
export { timeoutError, withTimeout } from './timeout.ts';
export { createFieldNames } from './transport/fieldnames.ts';
export { createInProcessTransport } from './transport/inprocess.ts';
export { openRemoteTransport } from './transport/remote.ts';
export { encodeScope } from './transport/scope.ts';
export { serveSubgraph } from './transport/server.ts';
export {
  createWorkerReplayGuard,
  serveReplayGuard,
} from './transport/signature/replay.workers.ts';
export { createSigner } from './transport/signature/signer.ts';
export { encodeBatches, WIRE } from './transport/wire.ts';
export { createIsValid } from './validity.ts';
