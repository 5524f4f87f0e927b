// `loyalty supergraph`: composes, checks and publishes the graph that gateways serve.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import {
  type Add,
  commandGroup,
  digits,
  type ShellCommand,
  typed,
} from '@partner-loyalty/cli/shell/argument.ts';
import type { ServiceShell } from '@partner-loyalty/cli/shell/extension.ts';
import { CommandError } from '@partner-loyalty/cli/shell/shell.ts';
import { SURFACE_NAMES, type SurfaceName } from '@partner-loyalty/gateway';
import { SUPERGRAPH_CONFIG, SUPERGRAPH_FILE } from '@partner-loyalty/gateway/graph/committed.ts';
import { subgraphName } from '@partner-loyalty/gateway/graph/config.ts';
import { text } from '@partner-loyalty/runtime/input.ts';
import { subgraphUrl } from '@partner-loyalty/runtime/settings/schemas.ts';
import { registryUrl } from '@partner-loyalty/runtime/settings/table.ts';
import * as z from 'zod';
import { type RegistryRequest, subgraphCodes } from '../request.ts';
import type { DevOptions } from './dev.ts';
import { operateAndPrint, type Where } from './operation.ts';
import { type SignOptions, scopeHeader, sign } from './sign.ts';
import { tokenCommand } from './tokens.ts';
import { changelog, fetchSchema, list, show } from './versions.ts';

export { examine } from './examine.ts';

const FORCE = [
  '--force',
  'go ahead even if callers use what it breaks; on the store only',
] as const;

export function commands(shell: ServiceShell) {
  const { group, add } = commandGroup('supergraph', 'manage the graph that the gateway serves');
  addPublishing(add, shell);
  addVersions(add, shell);
  addLocalCommands(group, shell);
  group.addCommand(tokenCommand(shell));
  addSecret(group.command('secret').description('manage secrets of subgraphs'), shell);
  add('compose', 'compose supergraph.yaml into gateway/supergraph.graphql')
    .option('--check', 'write nothing; fail if the file is out of date')
    .action((options: { check?: boolean }) => composeCommitted(shell, options.check === true));
  return [group];
}

function addPublishing(add: Add, shell: ServiceShell): void {
  withSchema(add('check', 'show what a schema changes for callers, and who uses what it breaks'))
    .option('--strict', 'fail on any breaking change, even if nobody uses it')
    .action((name: string, file: string, options: SchemaOptions & { strict?: boolean }) =>
      run(shell, options, (rest) => ({ operation: 'check', ...schemaOf(name, file), ...rest })),
    );
  withSchema(add('publish', 'publish a schema: every gateway serves it within 5 seconds'))
    .value('--commit <commit>', 'what it was built from', text(100))
    .value('--message <text>', 'what the list of versions says of it', text(500))
    .option('--approve', 'approve what it touches of other subgraphs; on the store only')
    .option(...FORCE)
    .action((name: string, file: string, options: SchemaOptions & PublishOptions) =>
      run(shell, options, (rest) => ({ operation: 'publish', ...schemaOf(name, file), ...rest })),
    );
  withRegistry(add('remove', 'publish the graph without a subgraph'))
    .argument('<name>', "the subgraph's name", subgraph)
    .option(...FORCE)
    .action((name: string, options: Where & { force?: boolean }) =>
      run(shell, options, (rest) => ({ operation: 'remove', name, ...rest })),
    );
  withRegistry(add('approve', 'approve what a refused publication touches of other subgraphs'))
    .argument('<proposalid>', 'the ID, as listed')
    .action((proposalId: string, options: Where) =>
      run(shell, options, () => ({ operation: 'approve', proposalId })),
    );
}

function addVersions(add: Add, shell: ServiceShell): void {
  withRegistry(add('list', 'list the published versions'))
    .option('--pending', 'list what waits for approval instead')
    .action((options: Where & { pending?: boolean }) => list(shell, options));
  withRegistry(add('show', 'print a version'))
    .argument('[version]', 'its number; by default, the newest', typed('the version', version))
    .action((number: number | undefined, options: Where) => show(shell, number, options));
  withRegistry(add('fetch', 'print the published schema of a subgraph'))
    .argument('<name>', "the subgraph's name", subgraph)
    .action((name: string, options: Where) => fetchSchema(shell, name, options));
  withRegistry(add('whoami', 'show whose token it is, and until when it works')).action(
    (options: Where) => run(shell, options, () => ({ operation: 'whoami' })),
  );
  add('changelog', 'show what callers read in the changelog')
    .value('--surface <surface>', 'partner or member; by default both', surface)
    .action((options: { surface?: SurfaceName }) => changelog(shell, options.surface));
  withRegistry(add('rollback', 'publish what was before: of a subgraph, or the whole graph'))
    .argument('[name|version]', 'a subgraph; or a version, by default the one before', target)
    .option(...FORCE)
    .action((chosen: Target = {}, options: Where & { force?: boolean }) =>
      run(shell, options, (rest) => ({ operation: 'rollback', ...chosen, ...rest })),
    );
}

function addSecret(group: ShellCommand, shell: ServiceShell): void {
  withRegistry(group.command('rotate'))
    .description('make a secret for a subgraph, which gateways know within 5 seconds')
    .argument('<name>', "the subgraph's name", subgraph)
    .option('--drop-old', 'make none, and end the old one of two now; on the store only')
    .action((name: string, options: Where & { dropOld?: boolean }) =>
      run(shell, options, (rest) => ({ operation: 'rotateSecret', name, ...rest })),
    );
}

function withRegistry(command: ShellCommand): ShellCommand {
  return command.value(
    '--registry <url>',
    'the base URL of the service to go through, with the token in LOYALTY_SUBGRAPH_TOKEN (default: LOYALTY_REGISTRY; without it, the store)',
    registryUrl,
  );
}

function withSchema(command: ShellCommand): ShellCommand {
  return withRegistry(command)
    .argument('<name>', "the subgraph's name", subgraph)
    .argument('<schemafile>', "the subgraph's schema, as SDL")
    .value('--url <url>', "the subgraph's endpoint", subgraphUrl)
    .option('--batching', 'it accepts several operations in one request')
    .option('--no-batching', 'it accepts one operation per request')
    .value('--codes <codes>', 'its error codes that callers may see, separated by commas', codes)
    .option('--init', 'go on though the store holds no published graph yet');
}

/** Options that are left out keep their values. */
type SchemaOptions = Where & { url?: string; batching?: boolean; codes?: string[]; init?: boolean };
type PublishOptions = { commit?: string; message?: string; approve?: boolean; force?: boolean };
type Target = { name?: string; version?: number };

function run<Options extends Where>(
  shell: ServiceShell,
  { registry, ...rest }: Options,
  request: (rest: Omit<Options, 'registry'>) => RegistryRequest,
): Promise<void> {
  return operateAndPrint(shell, request(rest), { registry });
}

function schemaOf(name: string, file: string) {
  return { name, sdl: readFileSync(file, 'utf8'), file };
}

const subgraph = typed('the name', subgraphName);
const version = digits(0, 1_000_000_000);
const surface = z.enum(SURFACE_NAMES);
const codes = z
  .string()
  .transform((given) => given.split(','))
  .pipe(subgraphCodes);

function target(given: string): Target {
  return /^\d/.test(given)
    ? { version: typed('the version', version)(given) }
    : { name: subgraph(given) };
}

async function composeCommitted(shell: ServiceShell, checkOnly: boolean): Promise<void> {
  const { compose } = await import('../publish/compose.ts');
  const current = existsSync(SUPERGRAPH_FILE) ? readFileSync(SUPERGRAPH_FILE, 'utf8') : undefined;
  const composed = compose(SUPERGRAPH_CONFIG, current);
  const upToDate = composed === current;
  if (checkOnly && !upToDate)
    throw new CommandError(
      'gateway/supergraph.graphql is out of date: run loyalty supergraph compose',
    );
  if (!upToDate) writeFileSync(SUPERGRAPH_FILE, composed);
  shell.print({ file: 'gateway/supergraph.graphql', changed: !upToDate });
}

export function addLocalCommands(group: ShellCommand, shell: ServiceShell): void {
  withUrl(group.command('dev'))
    .description('run a gateway on this machine, which follows a subgraph under development')
    .argument('[schemafile]', 'its schema, as SDL; by default, the subgraph is asked for it')
    .value(
      '--registry <url>',
      "the service whose published graph it joins, with the token in LOYALTY_SUBGRAPH_TOKEN (default: LOYALTY_REGISTRY; without it, this release's graph)",
      registryUrl,
    )
    .value('--port <port>', 'the port of the gateway', digits(0, 65_535))
    .action(async (name: string, file: string | undefined, options: DevOptions) => {
      // It loads the whole service.
      const { dev } = await import('./dev.ts');
      return dev(shell, name, file, options);
    });
  withUrl(group.command('sign'))
    .description('print a curl command with a request that is signed as the gateway signs its own')
    .value(
      '--scope <scope>',
      'whose data it may see, as in the header: kind=partner, partner="acme"',
      scopeHeader,
      'kind=service',
    )
    .option('--query <query>', 'the operation', '{__typename}')
    .option('--body <body>', 'the body instead of a query, as JSON or as @file')
    .action((name: string, options: SignOptions) => sign(shell, name, options));
}

function withUrl(command: ShellCommand): ShellCommand {
  return command
    .argument('<name>', "the subgraph's name", typed('the name', subgraphName))
    .requiredOption('--url <url>', "the subgraph's endpoint", typed('--url', subgraphUrl));
}
