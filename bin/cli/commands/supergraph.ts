// `loyalty supergraph`: composes the supergraph from the schemas of the subgraphs.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compose, SUPERGRAPH_FILE } from '@partner-loyalty/gateway';
import { Command } from 'commander';
import { CommandError, type Shell } from '../shell/shell.ts';

const CONFIG = join(import.meta.dirname, '../../../supergraph.yaml');

export function supergraphCommand(shell: Shell): Command {
  const group = new Command('supergraph').description('manage the graph that the gateway serves');
  group
    .command('compose')
    .description('compose supergraph.yaml into gateway/supergraph.graphql')
    .option('--check', 'write nothing; fail if the file is out of date')
    .action((options: { check?: boolean }) => composeSupergraph(shell, options.check === true));
  return group;
}

function composeSupergraph(shell: Shell, checkOnly: boolean): void {
  const composed = compose(CONFIG);
  const upToDate = composed === currentSupergraph();
  if (checkOnly && !upToDate)
    throw new CommandError(
      'gateway/supergraph.graphql is out of date: run loyalty supergraph compose',
    );
  if (!upToDate) writeFileSync(SUPERGRAPH_FILE, composed);
  shell.print({ file: 'gateway/supergraph.graphql', changed: !upToDate });
}

function currentSupergraph(): string | undefined {
  try {
    return readFileSync(SUPERGRAPH_FILE, 'utf8');
  } catch {
    return undefined;
  }
}
