// What no response may contain.

const LEAKS: Record<string, RegExp> = {
  'a stack trace': /\n\s+at |\.[cm]?[jt]s:\d|node:internal|node_modules/,
  // A profile has a field of the name `standings`, in quotes.
  'the name of a subgraph': /\bmembers\b|(?<!")\bstandings\b|subgraph/i,
  'the name of an engine': /mongo|lmdb|redis|documentdb|postgres|apollo|undici/i,
  'an internal field': /activePartnerIds|_entities|_service|join__|@tag|signingKeys/,
};

/** The leaks in a response, by name. */
export function leaksIn(text: string): string[] {
  return Object.entries(LEAKS).flatMap(([name, pattern]) => (pattern.test(text) ? [name] : []));
}
