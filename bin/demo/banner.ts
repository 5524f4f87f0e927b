// What `npm start` prints: the address, and how to get an answer from it.

import { DEMO_MEMBER } from './data.ts';
import type { DemoKey } from './demo.ts';

/** The address of /graphql as a client on this machine writes it. A host that means every address is called localhost. */
export function endpointOf(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}/graphql`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/graphql`;
}

/** The text after a start: with the demo's keys, where it was filled just now, or with the command that makes a key. */
export function banner(start: {
  environment: string;
  endpoint: string;
  demoKeys?: readonly DemoKey[];
  partnerId?: string;
}): string {
  const { environment, endpoint, demoKeys, partnerId } = start;
  const heading = `\n  Partner Loyalty API, ${environment}:  ${endpoint}\n`;
  const [first] = demoKeys ?? [];
  if (demoKeys === undefined || first === undefined)
    return `${heading}\n${howToMakeKeys(partnerId)}\n`;
  const width = Math.max(...demoKeys.map((demo) => demo.partnerId.length));
  const keys = demoKeys
    .map((demo) => `    ${demo.partnerId.padEnd(width)}  ${demo.key}\n`)
    .join('');
  return `${heading}\n  Demo keys, shown only this once:\n${keys}\n  Paste:\n\n${demoCurl(endpoint, first.key)}\n\n`;
}

function howToMakeKeys(partnerId: string | undefined): string {
  if (partnerId !== undefined)
    return `  A key for a partner:  npx loyalty keys create ${partnerId}\n`;
  return '  A partner and a key:  npx loyalty partners create ID --name NAME\n                        npx loyalty keys create ID\n';
}

/** One line for a shell, so that it can be copied as it stands. */
export function demoCurl(endpoint: string, key: string): string {
  const query =
    'query($email: String!) { memberByEmail(email: $email) { memberId email firstName lastName tier points } }';
  const body = JSON.stringify({ query, variables: { email: DEMO_MEMBER.email } });
  return `curl -s ${endpoint} -H 'content-type: application/json' -H 'x-partner-api-key: ${key}' -d '${body}'`;
}
