// `loyalty supergraph`: composes the graph of the subgraphs' schemas.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compose, SUPERGRAPH_FILE } from '@partner-loyalty/gateway';
import { Command } from 'commander';
import { CommandError, type Shell } from '../shell.ts';

const CONFIG = join(import.meta.dirname, '../../../supergraph.yaml');

export function supergraphCommand(shell: Shell): Command {
  const group = new Command('supergraph').description('the graph that the gateway serves');
  group
    .command('compose')
    .description('compose supergraph.yaml into gateway/supergraph.graphql')
    .option('--check', 'write nothing; fail where the file is not up to date')
    .action((options: { check?: boolean }) => writeSupergraph(shell, options.check === true));
  return group;
}

function writeSupergraph(shell: Shell, checkOnly: boolean): void {
  const composed = compose(CONFIG);
  const upToDate = composed === current();
  if (checkOnly && !upToDate)
    throw new CommandError(
      'gateway/supergraph.graphql is not up to date: loyalty supergraph compose',
    );
  if (!upToDate) writeFileSync(SUPERGRAPH_FILE, composed);
  shell.print({ file: 'gateway/supergraph.graphql', changed: !upToDate });
}

function current(): string | undefined {
  try {
    return readFileSync(SUPERGRAPH_FILE, 'utf8');
  } catch {
    return undefined;
  }
}
