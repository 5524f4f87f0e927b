// Finds settings whose values do not fit together.
import type { ProcessName, Settings } from './table.ts';

/** A variable, and what is wrong with it. */
export type Fault = [name: string, what: string];

export function contradictions(settings: Settings, process: ProcessName): Fault[] {
  const { port, adminPort } = settings;
  return [
    ...(port !== 0 && port === adminPort ? [fault('ADMIN_PORT', 'must differ from PORT')] : []),
    ...missingForSubgraphs(settings, process),
    ...missingForProvider(settings),
  ];
}

function missingForSubgraphs(settings: Settings, process: ProcessName): Fault[] {
  const { membersUrl, standingsUrl, subgraphSecret } = settings;
  const oneProcess = process === 'all' && membersUrl === undefined && standingsUrl === undefined;
  if (oneProcess) return [];
  const ofGateway = { MEMBERS_URL: membersUrl, STANDINGS_URL: standingsUrl };
  return [
    ...(process === 'gateway' ? missing(ofGateway, 'if the gateway runs on its own') : []),
    ...missing({ SUBGRAPH_SECRET: subgraphSecret }, 'if a subgraph runs on its own'),
  ];
}

function missingForProvider(settings: Settings): Fault[] {
  const { idTokenIssuer: issuer, idTokenAudience: audience, idTokenJwksUrl: jwksUrl } = settings;
  if (issuer === undefined && audience === undefined && jwksUrl === undefined) return [];
  const undiscoverable = issuer !== undefined && !/^https?:/.test(issuer);
  return [
    ...missing(
      { ID_TOKEN_ISSUER: issuer, ID_TOKEN_AUDIENCE: audience },
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
    .map(([name]) => fault(name, `must be set ${condition}`));
}

function fault(name: string, what: string): Fault {
  return [name, what];
}
