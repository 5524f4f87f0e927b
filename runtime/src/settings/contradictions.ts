// Finds settings whose values do not fit together.
import { OWN_SUBGRAPHS, settingsOfSubgraph } from './subgraphs.ts';
import type { ProcessName, Settings } from './table.ts';

/** A variable, and what is wrong with it. */
type Fault = [name: string, what: string];

export function contradictions(settings: Settings, process: ProcessName): Fault[] {
  const { port, adminPort, environment, webhookPrivate } = settings;
  const faults: Fault[] = [];
  if (port !== 0 && port === adminPort) faults.push(['ADMIN_PORT', 'must differ from PORT']);
  if (environment === 'production' && webhookPrivate === 'on')
    faults.push(['WEBHOOK_PRIVATE', 'must not be on in production']);
  return [
    ...faults,
    ...misspelledStore(settings),
    ...faultsOfSubgraphs(settings, process),
    ...missingForProvider(settings),
  ];
}

/** Production would start on an empty store. */
function misspelledStore({ environment, misspelled, mongodbUrl }: Settings): Fault[] {
  if (environment !== 'production' || mongodbUrl !== undefined) return [];
  return misspelled
    .filter(({ meant, isSet }) => !isSet && ['MONGODB_URL', 'DATA_DIR'].includes(meant))
    .map(({ name, meant }) => [name, `is no setting: ${meant} is, and is not set`]);
}

/**
 * Covers this repository's subgraphs; the others are known only once the graph is read. Standings
 * calls members if MEMBERS_URL is set.
 */
function faultsOfSubgraphs(settings: Settings, process: ProcessName): Fault[] {
  const calls = process === 'all' || process === 'gateway';
  const { url: toMembers, faults: wrong = [] } = settings.subgraphs.MEMBERS ?? {};
  const asksMembers =
    process === 'standings' &&
    (toMembers !== undefined || wrong.some(([name]) => name === 'MEMBERS_URL'));
  const names = OWN_SUBGRAPHS.filter(
    (name) => calls || name === process || (asksMembers && name === 'members'),
  );
  const faults = names.flatMap((name) => settings.subgraphs[name.toUpperCase()]?.faults ?? []);
  if (faults.length > 0) return faults;
  const { subgraphSecret: shared } = settings;
  const withoutSecret = names.some((name) => {
    const { url, secret } = settingsOfSubgraph(settings, name);
    return secret === undefined && (process !== 'all' || url !== undefined);
  });
  return withoutSecret
    ? missing({ SUBGRAPH_SECRET: shared }, 'if a subgraph without a secret of its own runs alone')
    : [];
}

function missingForProvider(settings: Settings): Fault[] {
  const { idTokenIssuer: issuer, idTokenAudience: audience, idTokenJwksUrl: jwksUrl } = settings;
  if (issuer === undefined && audience === undefined && jwksUrl === undefined) return [];
  const undiscoverable = issuer !== undefined && !/^https?:/.test(issuer);
  return [
    ...missing(
      { ID_TOKEN_ISSUER: issuer, ID_TOKEN_AUDIENCE: audience?.[0] },
      'together with the other ID_TOKEN settings of a provider',
    ),
    ...(undiscoverable
      ? missing({ ID_TOKEN_JWKS_URL: jwksUrl }, 'if ID_TOKEN_ISSUER is not a URL')
      : []),
  ];
}

function missing(values: Record<string, string | undefined>, condition: string): Fault[] {
  return Object.entries(values)
    .filter(([, value]) => value === undefined)
    .map(([name]) => [name, `must be set ${condition}`]);
}
