// The extensions of the service. Without the line and the folder of one, the rest works as before.
import type { GatewayExtension } from '@partner-loyalty/gateway';
import type { StandingsExtension } from '@partner-loyalty/standings';

type Load<Extension> = () => Promise<Extension>;

/** If several take a path, the first one handles its requests. */
const GATEWAY: readonly Load<GatewayExtension>[] = [
  () => import('@partner-loyalty/audit/audit.ts'),
  () => import('@partner-loyalty/provider/gateway/extension.ts'),
  () => import('@partner-loyalty/registry/extension.ts'),
  () => import('@partner-loyalty/console/extension.ts'),
  () => import('@partner-loyalty/mcp/extension.ts'),
  () => import('@partner-loyalty/site/extension.ts'),
];

const STANDINGS: readonly Load<StandingsExtension>[] = [
  () => import('@partner-loyalty/webhooks/extension.ts'),
];

export function gatewayExtensions(): Promise<GatewayExtension[]> {
  return Promise.all(GATEWAY.map((load) => load()));
}

export function standingsExtensions(): Promise<StandingsExtension[]> {
  return Promise.all(STANDINGS.map((load) => load()));
}
