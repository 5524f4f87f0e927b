// A program for tests, parsed as an operator's program file is.
import { type Program, parseProgram } from '../src/rules/program.ts';

/** The parsed program. Throws with its faults. */
export function programOf(json: Program): Program {
  const parsed = parseProgram(json);
  if ('fault' in parsed) throw new Error(parsed.fault);
  return parsed.value;
}
