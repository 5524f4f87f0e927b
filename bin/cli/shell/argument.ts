// Parses the arguments and options that an operator types.
import { createParser } from '@partner-loyalty/runtime';
import type * as z from 'zod';
import { CommandError } from './shell.ts';

/**
 * A parser for commander: checks what was typed by a schema, and throws a CommandError that names
 * the argument but does not repeat it.
 */
export function typed<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
): (given: string) => z.output<Schema> {
  const parse = createParser(schema, name);
  return (given) => {
    const parsed = parse(given);
    if ('fault' in parsed) throw new CommandError(parsed.fault);
    return parsed.value;
  };
}
