// The registry: what publishers may do with the graph, on the store and over HTTP alike.
import { dropOldSecret, rotateSecret } from '@partner-loyalty/gateway/graph/secrets.ts';
import {
  isBuiltIn,
  settingsOfSubgraph,
  variableOf,
} from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { list, pending, show, shownNeed, whoami } from './lists.ts';
import { approveProposal, approversOf } from './proposals.ts';
import { CompositionError, TooLargeError } from './publish/faults.ts';
import { check, publish, remove, rollback } from './publish.ts';
import {
  type Operation,
  type Outcome,
  type Publisher,
  Refusal,
  type Registry,
  type RequestOf,
  type Run,
  refuse,
  whoIs,
} from './request.ts';

/**
 * Runs an operation, as far as the publisher may: a team reads everything but others' URLs, and
 * changes only its own subgraph. A refusal is an outcome too, and so are schemas that do not
 * compose.
 */
export async function runOperation<Name extends Operation>(
  registry: Registry,
  publisher: Publisher,
  request: RequestOf<Name>,
): Promise<Outcome> {
  try {
    if (publisher.kind === 'team') requireOwn(publisher, request);
    return await OPERATIONS[request.operation](registry, publisher, request);
  } catch (error) {
    if (error instanceof Refusal || error instanceof TooLargeError)
      return { refused: error.message };
    if (!(error instanceof CompositionError)) throw error;
    const { faults } = error;
    return faults.length === 1
      ? { refused: faults[0] ?? '' }
      : { lines: [...faults], refused: `the schemas do not compose: ${faults.length} errors` };
  }
}

type Asked = {
  operation: Operation;
  name?: string | undefined;
  force?: boolean | undefined;
  dropOld?: boolean | undefined;
};

function requireOwn(
  { subgraph }: Extract<Publisher, { kind: 'team' }>,
  { operation, name, force, dropOld }: Asked,
): void {
  if (force) refuse('--force is for operators, on the store: ask one to publish it');
  if (dropOld) refuse('--drop-old is for operators, on the store: ask one to end the old secret');
  if (operation === 'rollback' && name === undefined)
    refuse(`a token rolls back its own subgraph: loyalty supergraph rollback ${subgraph}`);
  if (name !== undefined && name !== subgraph)
    refuse(`the token in LOYALTY_SUBGRAPH_TOKEN is for ${subgraph}, not for ${name}`);
}

const approve: Run<'approve'> = async ({ store, audit }, publisher, { proposalId }) => {
  const { proposal, open } = await approveProposal(await store.tables(), publisher, proposalId);
  const { subgraph, needs, expiresAt } = proposal;
  const target = { proposalId, subgraph, needs: needs.map(({ what }) => what) };
  audit({ operation: 'supergraph.approve', ...whoIs(publisher), ...target });
  const lines = needs.map((need) => {
    const state = open.includes(need) ? `still to be approved by ${approversOf(need)}` : 'approved';
    return `${state}: ${shownNeed(need, subgraph, publisher)}`;
  });
  const isApproved = open.length === 0;
  const result = { proposalId, subgraph, approved: isApproved, expiresAt: new Date(expiresAt) };
  return { lines, result };
};

/**
 * Makes the secret of a subgraph, or a new one beside it, and shows it this once. With `dropOld`,
 * ends the older of two instead. Throws a Refusal if there is none to end, or none may be stored.
 */
const changeSecret: Run<'rotateSecret'> = async (registry, publisher, request) => {
  const { settings, store, audit } = registry;
  const { name: subgraph, dropOld = false } = request;
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
};

const OPERATIONS: { [Name in Operation]: Run<Name> } = {
  ...{ check, publish, rollback, remove, approve, rotateSecret: changeSecret },
  ...{ list, pending, show, whoami },
};
