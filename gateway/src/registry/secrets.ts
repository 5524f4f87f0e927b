// The secrets that the store has for subgraphs, made and ended by their publishers.
import {
  isBuiltIn,
  settingsOfSubgraph,
  variableOf,
} from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { dropOldSecret, rotateSecret } from '../graph/secrets.ts';
import {
  type Outcome,
  type Publisher,
  type Registry,
  type RequestOf,
  refuse,
  whoIs,
} from './request.ts';

/**
 * Makes the secret of a subgraph, or a new one beside it, and shows it this once. With `dropOld`,
 * ends the older of two instead. Throws a Refusal if there is none to end, or none may be stored.
 */
export async function changeSecret(
  { settings, store, audit }: Registry,
  publisher: Publisher,
  { name: subgraph, dropOld = false }: RequestOf<'rotateSecret'>,
): Promise<Outcome> {
  if (isBuiltIn(subgraph)) refuse(`the secret of ${subgraph} is a setting, not in the store`);
  const { secrets } = await store.tables();
  const record = (operation: string) => audit({ operation, ...whoIs(publisher), subgraph });
  if (dropOld) {
    if (!(await dropOldSecret(secrets, subgraph))) refuse(`${subgraph} has no old secret to end`);
    record('supergraph.secret.drop');
    return { result: { subgraph, dropped: true } };
  }
  const secret = await rotateSecret(secrets, settings, subgraph);
  if (secret === undefined)
    return refuse('KEY_ENCRYPTION_KEY must be set: production stores no secret unencrypted');
  record('supergraph.secret.rotate');
  const isOverruled = settingsOfSubgraph(settings, subgraph).secret !== undefined;
  const line = `gateways that have ${variableOf(subgraph, 'secret')} set go on signing with it`;
  return { lines: isOverruled ? [line] : [], result: { subgraph, secret } };
}
