// What no answer may ever hold.

const FAULTS: Record<string, RegExp> = {
  'a stack trace': /\n\s+at |\.[cm]?[jt]s:\d|node:internal|node_modules/,
  'the name of a subgraph': /\b(members|standings)\b|subgraph/i,
  'the name of an engine': /mongo|lmdb|redis|documentdb|postgres|apollo|undici/i,
  'an internal field': /activePartnerIds|_entities|_service|join__|@tag|signingKeys/,
};

/** What an answer holds that it must not, by name; none where all is well. */
export function faultsOf(text: string): string[] {
  return Object.entries(FAULTS).flatMap(([name, pattern]) => (pattern.test(text) ? [name] : []));
}
