// Parses the arguments and options that an operator types.
import { createParser, integer } from '@partner-loyalty/runtime/input.ts';
import * as z from 'zod';
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

/** An integer in digits, between two limits, both included. */
export function digits(least: number, most: number) {
  return z
    .string()
    .transform((given) => (/^\d+$/.test(given) ? Number(given) : given))
    .pipe(integer(least, most));
}
