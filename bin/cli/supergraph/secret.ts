// `loyalty supergraph secret`: makes and changes the secrets that the store has for subgraphs.
import { dropOldSecret, rotateSecret } from '@partner-loyalty/gateway';
import {
  GATEWAY_SUBGRAPH,
  OWN_SUBGRAPHS,
  settingsOfSubgraph,
  variableOf,
} from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { CommandError, type Shell } from '../shell/shell.ts';
import { withStore } from '../shell/stores.ts';

/** Prints the new secret, which nothing shows again. With `dropOld`, ends the old one instead. */
export async function rotate(
  shell: Shell,
  subgraph: string,
  { dropOld = false }: { dropOld?: boolean },
): Promise<void> {
  const settings = shell.settings();
  if ([...OWN_SUBGRAPHS, GATEWAY_SUBGRAPH].some((name) => name === subgraph))
    throw new CommandError(`the secret of ${subgraph} is a setting, not in the store`);
  await withStore('graph', settings, async (graphs) => {
    const { secrets } = await graphs.tables();
    if (dropOld) {
      if (!(await dropOldSecret(secrets, subgraph)))
        throw new CommandError(`${subgraph} has no old secret that could end`);
      return shell.print({ subgraph, dropped: true });
    }
    const secret = await rotateSecret(secrets, settings, subgraph);
    if (secret === undefined)
      throw new CommandError(
        'KEY_ENCRYPTION_KEY must be set: production stores no secret as it is',
      );
    shell.print({ subgraph, secret });
  });
  if (settingsOfSubgraph(settings, subgraph).secret !== undefined)
    shell.note(`gateways that have ${variableOf(subgraph, 'secret')} set go on signing with that`);
}
