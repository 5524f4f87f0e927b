// `loyalty supergraph dev` and `sign`: what a team needs while it develops its subgraph.

import { digits, typed } from '@partner-loyalty/cli/shell/argument.ts';
import type { ServiceShell } from '@partner-loyalty/cli/shell/extension.ts';
import { subgraphName } from '@partner-loyalty/gateway';
import { subgraphUrl } from '@partner-loyalty/runtime/settings/schemas.ts';
import { registryUrl } from '@partner-loyalty/runtime/settings/table.ts';
import type { Command } from 'commander';
import type { DevOptions } from './dev.ts';
import { type SignOptions, scopeHeader, sign } from './sign.ts';

export function addLocalCommands(group: Command, shell: ServiceShell): void {
  withUrl(group.command('dev'))
    .description('run a gateway on this machine, which follows a subgraph under development')
    .argument('[schemafile]', 'its schema, as SDL; by default, the subgraph is asked for it')
    .option(
      '--registry <url>',
      "the service whose published graph it joins, with the token in LOYALTY_SUBGRAPH_TOKEN (default: LOYALTY_REGISTRY; without it, this release's graph)",
      typed('--registry', registryUrl),
    )
    .option('--port <port>', 'the port of the gateway', typed('--port', digits(0, 65_535)))
    .action(async (name: string, file: string | undefined, options: DevOptions) => {
      // It loads the whole service.
      const { dev } = await import('./dev.ts');
      return dev(shell, name, file, options);
    });
  withUrl(group.command('sign'))
    .description('print a curl command with a request that is signed as the gateway signs its own')
    .option(
      '--scope <scope>',
      'whose data it may see, as in the header: kind=partner, partner="acme"',
      typed('--scope', scopeHeader),
      'kind=service',
    )
    .option('--query <query>', 'the operation', '{__typename}')
    .option('--body <body>', 'the body instead of a query, as JSON or as @file')
    .action((name: string, options: SignOptions) => sign(shell, name, options));
}

function withUrl(command: Command): Command {
  return command
    .argument('<name>', "the subgraph's name", typed('the name', subgraphName))
    .requiredOption('--url <url>', "the subgraph's endpoint", typed('--url', subgraphUrl));
}
