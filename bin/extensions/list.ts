// The extensions of the service. Without the lines and the folder of one, the rest works as before.
import type { GatewayExtension } from '@partner-loyalty/gateway';
import type { MembersExtension } from '@partner-loyalty/members';
import type { StandingsExtension } from '@partner-loyalty/standings';
import type { CommandExtension } from '../cli/shell/extension.ts';

type Load<Extension> = () => Promise<Extension>;

/** If several take a path, the first one handles its requests. */
const GATEWAY: readonly Load<GatewayExtension>[] = [
  () => import('@partner-loyalty/audit/audit.ts'),
  () => import('@partner-loyalty/usage/extension.ts'),
  () => import('@partner-loyalty/provider/gateway/extension.ts'),
  () => import('@partner-loyalty/registry/extension.ts'),
  () => import('@partner-loyalty/console/extension.ts'),
  () => import('@partner-loyalty/mcp/extension.ts'),
  () => import('@partner-loyalty/site/extension.ts'),
];

const MEMBERS: readonly Load<MembersExtension>[] = [
  () => import('@partner-loyalty/provider/members/extension.ts'),
];

const STANDINGS: readonly Load<StandingsExtension>[] = [
  () => import('@partner-loyalty/webhooks/extension.ts'),
];

/** Their commands stand in `--help` before this one of the core, in this order. */
const COMMANDS: readonly [before: string, load: Load<CommandExtension>][] = [
  ['staff', () => import('@partner-loyalty/provider/command.ts')],
  ['tokens', () => import('@partner-loyalty/webhooks/command.ts')],
  ['backup', () => import('@partner-loyalty/registry/commands/supergraph.ts')],
  ['backup', () => import('@partner-loyalty/usage/command.ts')],
  ['backup', () => import('@partner-loyalty/audit/command.ts')],
];

const loaded = <Extension>(all: readonly Load<Extension>[]) =>
  Promise.all(all.map((load) => load()));
export const gatewayExtensions = () => loaded(GATEWAY);
export const membersExtensions = () => loaded(MEMBERS);
export const standingsExtensions = () => loaded(STANDINGS);

export function commandExtensions(): Promise<(CommandExtension & { before: string })[]> {
  return Promise.all(COMMANDS.map(async ([before, load]) => ({ ...(await load()), before })));
}
