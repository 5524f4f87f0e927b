// `loyalty supergraph`: composes, checks and publishes the graph that gateways serve.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import {
  SUPERGRAPH_CONFIG,
  SUPERGRAPH_FILE,
  SURFACE_NAMES,
  type SurfaceName,
  subgraphCode,
  subgraphName,
} from '@partner-loyalty/gateway';
import { quoted } from '@partner-loyalty/runtime/input.ts';
import { subgraphUrl } from '@partner-loyalty/runtime/settings/schemas.ts';
import { Command } from 'commander';
import * as z from 'zod';
import { digits, typed } from '../shell/argument.ts';
import { CommandError, type Shell } from '../shell/shell.ts';
import { check } from '../supergraph/check.ts';
import { composing, type EntryOptions } from '../supergraph/next.ts';
import { publish, remove, rollback } from '../supergraph/publish.ts';
import { rotate } from '../supergraph/secret.ts';
import { changelog, list, show } from '../supergraph/versions.ts';

const FORCE = ['--force', 'go ahead even if callers use what it breaks'] as const;

export function supergraphCommand(shell: Shell): Command {
  const group = new Command('supergraph').description('manage the graph that the gateway serves');
  addPublishing(group, shell);
  addVersions(group, shell);
  addSecret(group.command('secret').description('manage secrets of subgraphs'), shell);
  group
    .command('compose')
    .description('compose supergraph.yaml into gateway/supergraph.graphql')
    .option('--check', 'write nothing; fail if the file is out of date')
    .action((options: { check?: boolean }) => composeCommitted(shell, options.check === true));
  return group;
}

function addPublishing(group: Command, shell: Shell): void {
  withSchema(group.command('check'))
    .description('show what a schema changes for callers, and who uses what it breaks')
    .option('--strict', 'fail on any breaking change, even if nobody uses it')
    .action((name: string, file: string, options: { strict?: boolean }) =>
      check(shell, name, file, options),
    );
  withSchema(group.command('publish'))
    .description('publish a schema: every gateway serves it within 5 seconds')
    .option('--url <url>', "the subgraph's endpoint", typed('--url', subgraphUrl))
    .option('--batching', 'it accepts several operations in one request')
    .option('--no-batching', 'it accepts one operation per request')
    .option(
      '--codes <codes>',
      'its error codes that callers may see, separated by commas',
      typed('--codes', codes),
    )
    .option(...FORCE)
    .action((name: string, file: string, options: EntryOptions & { force?: boolean }) =>
      publish(shell, name, file, options),
    );
  group
    .command('remove')
    .description('publish the graph without a subgraph')
    .argument('<name>', "the subgraph's name")
    .option(...FORCE)
    .action((name: string, options: { force?: boolean }) => remove(shell, name, options));
}

function addVersions(group: Command, shell: Shell): void {
  group
    .command('list')
    .description('list the published versions')
    .action(() => list(shell));
  group
    .command('show')
    .description('print a version')
    .argument('[version]', 'its number; by default, the newest', typed('the version', version))
    .action((number?: number) => show(shell, number));
  group
    .command('changelog')
    .description('show what callers read in the changelog')
    .option(
      '--surface <surface>',
      'partner or member; by default both',
      typed('--surface', surface),
    )
    .action((options: { surface?: SurfaceName }) => changelog(shell, options.surface));
  group
    .command('rollback')
    .description('publish an earlier version again')
    .argument('[version]', 'its number; by default, the one before', typed('the version', version))
    .option(...FORCE)
    .action((number: number | undefined, options: { force?: boolean }) =>
      rollback(shell, number, options),
    );
}

function addSecret(group: Command, shell: Shell): void {
  group
    .command('rotate')
    .description('make a secret for a subgraph, which gateways know within 5 seconds')
    .argument('<name>', "the subgraph's name", typed('the name', subgraphName))
    .option('--drop-old', 'make none, and end the old one of two now')
    .action((name: string, options: { dropOld?: boolean }) => rotate(shell, name, options));
}

function withSchema(command: Command): Command {
  return command
    .argument('<name>', "the subgraph's name", typed('the name', subgraphName))
    .argument('<schemafile>', "the subgraph's schema, as SDL");
}

const version = digits(0, 1_000_000_000);
const surface = z.enum(SURFACE_NAMES);
const codes = z.string().transform((text, context) => {
  const all = [...new Set(text.split(',').map((code) => code.trim()))].filter(
    (code) => code !== '',
  );
  for (const code of all) {
    const fault = subgraphCode.safeParse(code).error?.issues[0];
    if (fault !== undefined) context.addIssue(`has ${quoted(code)}, which ${fault.message}`);
  }
  return all;
});

async function composeCommitted(shell: Shell, checkOnly: boolean): Promise<void> {
  const { compose } = await import('@partner-loyalty/gateway/publish');
  const current = existsSync(SUPERGRAPH_FILE) ? readFileSync(SUPERGRAPH_FILE, 'utf8') : undefined;
  const composed = await composing(shell, () => compose(SUPERGRAPH_CONFIG, current));
  const upToDate = composed === current;
  if (checkOnly && !upToDate)
    throw new CommandError(
      'gateway/supergraph.graphql is out of date: run loyalty supergraph compose',
    );
  if (!upToDate) writeFileSync(SUPERGRAPH_FILE, composed);
  shell.print({ file: 'gateway/supergraph.graphql', changed: !upToDate });
}
