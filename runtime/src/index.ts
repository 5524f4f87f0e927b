// The public list of this package: what the gateway, the subgraphs and the main files share.
export { type Admin, serveAdmin } from './admin.ts';
export { type Environment, refuseForeignStore } from './environment.ts';
export { ERRORS, type ErrorCode, type ErrorRow, Failure, fail, isErrorCode } from './errors.ts';
export { createExecutor, createInProcessTransport, type Execute } from './executor.ts';
export { HEADERS, type HeaderRow } from './headers.ts';
export { errorBody, errorReply, type HttpReply } from './http.reply.ts';
export type { HttpRequest } from './http.request.ts';
export { type HttpServer, serveHttp } from './http.ts';
export { type Lifecycle, runProcess } from './lifecycle.ts';
export { openLmdb } from './lmdb.ts';
export { createLog, LOG_FIELDS, type Log, type LogFields } from './log.ts';
export { createMetrics, METRICS, type MetricRow, type Metrics, type MetricsData, mergeMetrics } from './metrics.ts';
export { isDuplicate, type Mongo, openMongo } from './mongo.ts';
export { serveSubgraph } from './serve.ts';
export { type ProcessName, SETTINGS, type SettingRow, type Settings } from './settings.table.ts';
export { readEnv, readSettings } from './settings.ts';
export { createVerifier, type SignedParts, signRequest } from './signature.ts';
export type { Scope, Subgraph, SubgraphContext, SubgraphError, SubgraphReply, SubgraphRequest, Transport } from './subgraph.ts';
