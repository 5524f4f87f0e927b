// Parses the options that a partner is created and changed with.
import { readFileSync } from 'node:fs';
import { DEFAULT_SCOPES, type KeyScope } from '@partner-loyalty/gateway';
import { text, utf8Text } from '@partner-loyalty/runtime/input.ts';
import { type Program, parseProgram } from '@partner-loyalty/standings';
import * as z from 'zod';
import { parseStrictJson } from '../import/strictjson.ts';
import { addresses, digits, type ShellCommand, scopes } from '../shell/argument.ts';
import { CommandError, oneLine } from '../shell/shell.ts';

const MAX_NAME = 100;
const MAX_BUDGET = 1_000_000_000;
const MAX_INVITATIONS = 10_000;

/** What was typed; `none` and `default` take away what the partner had. */
export type PartnerOptions = {
  name?: string;
  /** A path: the file is read when the command runs. */
  program?: string;
  budget?: number | 'default';
  magicLinkUrl?: string | 'none';
  consent?: 'required' | 'none';
  invitations?: number | 'default';
  scopes?: KeyScope[] | 'default';
  allow?: string[] | 'none';
};

export function withPartnerOptions(command: ShellCommand): ShellCommand {
  return command
    .option('--program <file>', 'its tiers and membership year, as JSON')
    .value(
      '--budget <fields>',
      'root fields per window, for each of its keys; "default" for the setting',
      orWord('default', digits(1, MAX_BUDGET)),
    )
    .value(
      '--magic-link-url <url>',
      'its own page that magic links lead to; "none" for /sign-in',
      orWord('none', webUrl),
    )
    .value(
      '--consent <required|none>',
      'whether members have to agree before they are enrolled',
      z.enum(['required', 'none'], 'must be "required" or "none"'),
    )
    .value(
      '--invitations <count>',
      'how many of its invitations go out in 24 hours; "default" for 200',
      orWord('default', digits(1, MAX_INVITATIONS)),
    )
    .value(
      '--scopes <list>',
      `what keys made in the console may be used for at most; "default" for ${DEFAULT_SCOPES.join(',')}`,
      orWord('default', scopes),
    )
    .value(
      '--allow <list>',
      'the addresses that may use keys made in the console, such as 10.0.0.0/8; "none" for all',
      orWord('none', addresses),
    );
}

export const partnerId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'must have 1 to 64 letters, digits, ".", "_" or "-", and begin with a letter or a digit',
  );

export const partnerName = text(MAX_NAME);

const webUrl = z
  .url({ protocol: /^https?$/, error: 'must be an absolute http or https URL' })
  .transform((url) => new URL(url).href);

/** The value of an option, or the word that takes it away. */
function orWord<Word extends string, T>(word: Word, schema: z.ZodType<T, string>) {
  return z.string().transform((given, context): T | Word => {
    if (given === word) return word;
    const parsed = schema.safeParse(given);
    if (parsed.success) return parsed.data;
    for (const { message } of parsed.error.issues) context.addIssue(message);
    return z.NEVER;
  });
}

/** The program in a file, if one is given. Throws a CommandError with the file and every fault. */
export function readProgram(file: string | undefined): Program | undefined {
  if (file === undefined) return undefined;
  let json: string | undefined;
  try {
    json = utf8Text(readFileSync(file));
  } catch (error) {
    throw new CommandError(`--program: ${oneLine(error)}`);
  }
  const parsed = json === undefined ? { fault: 'must be UTF-8' } : parseStrictJson(json);
  const program = 'fault' in parsed ? parsed : parseProgram(parsed.value);
  if ('fault' in program) throw new CommandError(`--program: ${file}: ${program.fault}`);
  return program.value;
}
