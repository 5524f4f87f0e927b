// Programs for tests, parsed like an operator's program file.
import { type Program, parseProgram } from '../src/rules/program.ts';

/** Parses a program. Throws an Error with its faults. */
export function programOf(json: Program): Program {
  const parsed = parseProgram(json);
  if ('fault' in parsed) throw new Error(parsed.fault);
  return parsed.value;
}
