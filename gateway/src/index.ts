// The public list of this package: what the main files and the operator's command build on.
export { compose } from './compose.ts';
export { type Gateway, type GatewayParts, openGateway, SUPERGRAPH_FILE } from './gateway.ts';
export { hashKey, issueKey, newKey, parseKey } from './key.ts';
export { openKeyStore } from './keystore.open.ts';
export type { KeyRecord, KeyStore, Origin, Partner } from './keystore.ts';
export { openCounters, sharedCounters } from './limit.open.ts';
export { type Serving, serveGateway } from './serve.ts';
export { openSurface, SURFACES, type Surface, type SurfaceExecutor, surfaceSdl } from './surface.ts';
export { createHttpTransport } from './transport.ts';
