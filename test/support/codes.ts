// The codes in errors of the subgraphs of this repository.
import { ERRORS, type ErrorRow } from '@partner-loyalty/runtime/errors.ts';

/** The codes of the table that are in errors of a subgraph. */
export function codesOf(subgraph: string): string[] {
  return Object.entries<ErrorRow>(ERRORS)
    .filter(([, row]) => row.subgraphs?.includes(subgraph))
    .map(([code]) => code);
}
