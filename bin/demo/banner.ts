// The text that `npm start` prints: the endpoint, and how to get an answer from it.
import { keyPrefix } from '@partner-loyalty/gateway';
import type { Environment } from '@partner-loyalty/runtime/environment.ts';
import { hostInUrl, type Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { DemoKey } from './demo.ts';
import { DEMO_MEMBER } from './members.ts';
import { DEMO_PARTNERS } from './partners.ts';

/** The partner whose first member is the one that the request to paste finds. */
const [DEMO] = DEMO_PARTNERS;

/** Where clients find the service; on a port that the system has chosen, on this machine. */
export function baseUrlOf(settings: Settings, port: number): string {
  const { environment, sandboxUrl, productionUrl, host } = settings;
  if (settings.port === 0) return `http://${hostInUrl(host)}:${port}`;
  return environment === 'sandbox' ? sandboxUrl : productionUrl;
}

type Start = {
  environment: Environment;
  endpoint: string;
  demoKeys?: readonly DemoKey[] | undefined;
  partnerIds: readonly string[];
  hasExplorer: boolean;
  consoleLink?: string | undefined;
};

/** Shows the demo's keys if it was just filled in, otherwise the command that creates a key. */
export function banner(start: Start): string {
  const { environment, endpoint, demoKeys, hasExplorer, consoleLink } = start;
  const heading = `\n  Partner Loyalty API, ${environment}:  ${endpoint}\n`;
  const explorer = hasExplorer ? endpoint.replace(/graphql$/, 'explorer') : undefined;
  const [first] = demoKeys ?? [];
  if (demoKeys === undefined || first === undefined)
    return `${heading}${inBrowser(explorer)}${inConsole(consoleLink)}\n${withoutKeys(start, explorer)}\n`;
  const width = Math.max(...demoKeys.map((demo) => demo.partnerId.length));
  const keys = demoKeys.map(({ partnerId, key }) => `    ${partnerId.padEnd(width)}  ${key}\n`);
  return [
    `${heading}\n`,
    '  Demo keys, shown only this once:\n',
    ...keys,
    inBrowser(explorer && `${explorer}#key=${first.key}`),
    inConsole(consoleLink),
    `\n  Paste:\n\n${demoCurl(endpoint, first.key)}\n\n`,
  ].join('');
}

function inBrowser(explorer: string | undefined): string {
  return explorer === undefined ? '' : `\n  In a browser:  ${explorer}\n`;
}

function inConsole(link: string | undefined): string {
  return link === undefined
    ? ''
    : `\n  The console of ${DEMO?.name}, signed in, once and within 15 minutes:\n    ${link}\n`;
}

function withoutKeys(start: Start, explorer: string | undefined): string {
  const { environment, endpoint, partnerIds } = start;
  const placeholder = `${keyPrefix(environment)}…`;
  const hasDemo = DEMO !== undefined && partnerIds.includes(DEMO.partnerId);
  const lines = [keyCommands(hasDemo ? DEMO.partnerId : partnerIds[0])];
  if (explorer !== undefined)
    lines.push(`  The explorer asks for it, or takes it from ${explorer}#key=${placeholder}\n`);
  if (hasDemo) lines.push(`\n  Paste, with the key in it:\n\n${demoCurl(endpoint, placeholder)}\n`);
  return lines.join('');
}

function keyCommands(partnerId: string | undefined): string {
  if (partnerId !== undefined)
    return `  A key for a partner:  npx --no-install loyalty keys create ${partnerId}\n`;
  return [
    '  A partner and a key:  npx --no-install loyalty partners create ID --name NAME\n',
    '                        npx --no-install loyalty keys create ID\n',
  ].join('');
}

/** A command in one line, to be copied into a shell as it is. */
export function demoCurl(endpoint: string, key: string): string {
  const fields = 'memberId email firstName lastName tier points';
  const query = `query($email: String!) { memberByEmail(email: $email) { ${fields} } }`;
  const body = JSON.stringify({ query, variables: { email: DEMO_MEMBER.email } });
  const headers = `-H 'content-type: application/json' -H 'x-partner-api-key: ${key}'`;
  return `curl -s ${endpoint} ${headers} -d '${body}'`;
}
