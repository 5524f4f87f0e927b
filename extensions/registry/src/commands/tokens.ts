// `loyalty supergraph token`: lets teams publish their subgraphs through the service.
import { commandGroup, durationMs, typed } from '@partner-loyalty/cli/shell/argument.ts';
import type { ServiceShell } from '@partner-loyalty/cli/shell/extension.ts';
import { CommandError, noSuch } from '@partner-loyalty/cli/shell/shell.ts';
import { readStore, withStore } from '@partner-loyalty/cli/shell/stores.ts';
import { subgraphName } from '@partner-loyalty/gateway/graph/config.ts';
import type { RegistryTables } from '@partner-loyalty/gateway/graph/tables.ts';
import { text } from '@partner-loyalty/runtime/input.ts';
import { refuseReservedName, refuseSharedVariables } from '../entry.ts';
import {
  createToken,
  listTokens,
  MAX_TOKEN_LIFETIME_MS,
  revokeToken,
  rotateToken,
  TOKEN_LIFETIME_MS,
} from '../tokens.ts';

const TOKEN = { '<tokenid>': 'the ID, as listed' };
const lifetime = durationMs.refine((ms) => ms <= MAX_TOKEN_LIFETIME_MS, 'must be at most 366d');

export function tokenCommand(shell: ServiceShell) {
  const { group, add } = commandGroup('token', 'manage the tokens that teams publish with');
  add('create', 'create a token for a subgraph and print it; it is not shown again')
    .argument(
      '<name>',
      "the subgraph's name, which need not exist yet",
      typed('the name', subgraphName),
    )
    .requiredOption('--owner <team>', 'the team that gets it', typed('--owner', text(100)))
    .value('--expires <duration>', 'how long it works (default: 90d)', lifetime)
    .action((subgraph: string, options: { owner: string; expires?: number }) =>
      create(shell, subgraph, options),
    );
  add('list', 'list the tokens, without the tokens themselves').action(() => list(shell));
  add('rotate', 'create a token like another one, and end that one after 24 hours', TOKEN).action(
    (tokenId: string) => rotate(shell, tokenId),
  );
  add('revoke', 'revoke a token: it stops working within 5 seconds', TOKEN).action(
    (tokenId: string) => revoke(shell, tokenId),
  );
  return group;
}

async function create(
  shell: ServiceShell,
  subgraph: string,
  { owner, expires: lifetimeMs = TOKEN_LIFETIME_MS }: { owner: string; expires?: number },
): Promise<void> {
  refuseReservedName(subgraph);
  const made = { subgraph, owner, lifetimeMs };
  const issued = await change(shell, 'create', async (tables) => {
    const active = (await listTokens(tables)).filter(({ state }) => state === 'active');
    const names = active.map((token) => token.subgraph);
    refuseSharedVariables(subgraph, names);
    return createToken(tables, made);
  });
  shell.printOnce(issued, SAVE);
}

const SAVE = 'Save the token now: only its hash is stored.';

async function list(shell: ServiceShell): Promise<void> {
  const rows = await readStore('graph', shell.settings(), async (graphs) =>
    listTokens(await graphs.tables()),
  );
  if (rows.length > 0) shell.printAll(rows);
  else shell.note('there are no tokens yet: loyalty supergraph token create NAME --owner TEAM');
}

async function rotate(shell: ServiceShell, tokenId: string): Promise<void> {
  const issued = await change(shell, 'rotate', async (tables) => {
    const rotated = await rotateToken(tables, tokenId);
    if (rotated === undefined) throw noSuch('token', tokenId);
    if (typeof rotated === 'string') throw new CommandError(`token ${tokenId} is ${rotated}`);
    return rotated;
  });
  shell.printOnce(issued, SAVE);
}

async function revoke(shell: ServiceShell, tokenId: string): Promise<void> {
  await change(shell, 'revoke', async (tables) => {
    const revoked = await revokeToken(tables, tokenId);
    return revoked ?? Promise.reject(noSuch('token', tokenId));
  });
  shell.print({ tokenId, state: 'revoked' });
}

/** Changes the tokens, with a line in the audit log. */
function change<Changed extends { tokenId: string; subgraph: string; owner: string }>(
  shell: ServiceShell,
  verb: string,
  work: (tables: RegistryTables) => Promise<Changed>,
): Promise<Changed> {
  return shell.audited(shell, (audit) =>
    withStore('graph', shell.settings(), async (graphs) => {
      const changed = await work(await graphs.tables());
      const { tokenId: target, subgraph } = changed;
      audit({ operation: `supergraph.token.${verb}`, subgraph, target });
      return changed;
    }),
  );
}
