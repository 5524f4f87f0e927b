// Runs an operation of the registry, on the store or through a service, and prints the outcome.
import { graphLine, openAudit } from '@partner-loyalty/audit/audit.ts';
import {
  inUse,
  type Outcome,
  READING,
  type Registry,
  type RegistryRequest,
  runOperation,
} from '@partner-loyalty/registry';
import { createLog } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { CommandError, type Row, type Shell } from '../shell/shell.ts';
import { readStore, withStore } from '../shell/stores.ts';
import { registryOf, sendToRegistry } from './client.ts';
import { printChanges } from './report.ts';

/** Where an operation runs, beside LOYALTY_REGISTRY. */
export type Where = { registry?: string | undefined };

const isChange = ({ operation }: RegistryRequest) =>
  operation !== 'check' && !READING.has(operation);

/** Runs an operation and prints all but its result. Throws a CommandError if it is refused. */
export async function operate(
  shell: Shell,
  request: RegistryRequest,
  where: Where = {},
): Promise<object> {
  const settings = shell.settings();
  const base = registryOf(where.registry, settings);
  const outcome =
    base === undefined
      ? await operateOnStore(shell, request)
      : await sendToRegistry(base, settings.subgraphToken, request);
  print(shell, request, outcome);
  if ('refused' in outcome) throw new CommandError(outcome.refused);
  if (base === undefined && isChange(request) && settings.supergraphFile !== undefined)
    shell.note('gateways that have SUPERGRAPH_FILE set keep serving that file');
  return outcome.result;
}

async function operateOnStore(shell: Shell, request: RegistryRequest): Promise<Outcome> {
  const settings = shell.settings();
  const usage: Registry['usage'] = (since) =>
    readStore('usage', settings, ({ fields }) => fields(since));
  const open = isChange(request) ? withStore : readStore;
  const run = (audit: Registry['audit']) =>
    open('graph', settings, (store) =>
      runOperation({ settings, store, usage, audit }, { kind: 'operator' }, request),
    );
  return isChange(request) ? audited(shell, run) : run(() => {});
}

/** Runs an operator's change, which writes lines into the audit log, if there is one. */
export async function audited<T>(
  shell: Shell,
  work: (audit: Registry['audit']) => Promise<T>,
): Promise<T> {
  const { auditLog } = shell.settings();
  // Stdout has the result.
  if (auditLog === '-') return work((action) => shell.note(graphLine(action).trimEnd()));
  const observe = { log: createLog('silent'), metrics: createMetrics() };
  const audit = openAudit({ auditLog }, observe);
  try {
    return await work((action) => audit?.graph(action));
  } finally {
    await audit?.close();
  }
}

function print(shell: Shell, { operation }: RegistryRequest, outcome: Outcome): void {
  const { changes, notices = [], lines = [] } = outcome;
  if (changes !== undefined && (!shell.json || operation === 'check')) printChanges(shell, changes);
  else if (changes !== undefined && 'refused' in outcome) printChanges(shell, inUse(changes));
  if (operation === 'check' && notices.length > 0) shell.printAll(notices);
  for (const line of lines) shell.note(line);
}

/** Prints a result with named values; times may have come as JSON. */
export async function operateAndPrint(
  shell: Shell,
  request: RegistryRequest,
  where?: Where,
): Promise<void> {
  const result = await operate(shell, request, where);
  // Cast: what the registry answers is JSON, of objects with named values.
  if (Array.isArray(result)) shell.printAll(result as Row[]);
  else if ('secret' in result) shell.printOnce(result as Row);
  else if (Object.keys(result).length > 0) shell.print(result as Row);
}
