// `loyalty supergraph sign`: a request to a subgraph, signed as the gateway signs its own.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CommandError, type Shell } from '@partner-loyalty/cli/shell/shell.ts';
import { settingsOfSubgraph, variableOf } from '@partner-loyalty/runtime/settings/subgraphs.ts';
import { BATCH, decodeCaller } from '@partner-loyalty/runtime/transport/caller.ts';
import { createSigner } from '@partner-loyalty/runtime/transport/signature/signer.ts';
import * as z from 'zod';

export type SignOptions = { url: string; scope: string; query: string; body?: string };

/** A scope in the form of its header. */
export const scopeHeader = z
  .string()
  // A header has no other characters, and the verifier decodes what the gateway would send.
  .refine(
    (text) => /^[ -~]+$/.test(text) && (text === BATCH || decodeCaller(text) !== undefined),
    'must be as in the header, such as kind=partner, partner="acme"',
  );

/** Prints a curl command, for a shell, that is valid once and for 30 seconds. */
export function sign(shell: Shell, name: string, options: SignOptions): void {
  const { url, scope: caller, query, body: given } = options;
  const { secret } = settingsOfSubgraph(shell.settings(), name);
  if (secret === undefined)
    throw new CommandError(`${variableOf(name, 'secret')} must be set: it signs the request`);
  const file = given?.startsWith('@') ? given.slice(1) : undefined;
  const body = file === undefined ? (given ?? JSON.stringify({ query })) : readFileSync(file);
  const path = new URL(url).pathname;
  const headers = createSigner(
    name,
    secret,
  )({ method: 'POST', path, caller, requestId: `sign-${randomUUID()}`, body });
  const words = [
    // Brackets and braces of the URL mean themselves.
    ...['curl', '-sS', '--globoff', url],
    ...Object.entries({ 'content-type': 'application/json', ...headers }).flatMap(
      ([header, value]) => ['-H', `${header}: ${value}`],
    ),
    ...(file === undefined ? ['--data-raw', String(body)] : ['--data-binary', `@${file}`]),
  ];
  const command = words.map(quoted).join(' ');
  if (shell.json) shell.print({ command });
  else shell.write(`${command}\n`);
}

/** A word as POSIX shells read it back. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
