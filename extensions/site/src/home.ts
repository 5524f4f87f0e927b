// The page at `/` with the first request to the service, and that for paths that do not exist.
import { keyPrefix } from '@partner-loyalty/gateway/identity/apikey.ts';
import { codeBlock, type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { guidePath } from './docs/paths.ts';
import { type About, framed } from './frame.ts';

export function homePage(about: About): string {
  const { environment, endpoint, otherEndpoint, mcpEndpoint } = about;
  const isSandbox = environment === 'sandbox';
  const main = html`<div class="lead">
<h1>Partner Loyalty API</h1>
<p class="claim">Read a member’s identity, tier and points from your own systems, enroll members, and
let them sign in. One GraphQL endpoint, one key.</p>
</div>
<dl class="facts">
<div><dt>Environment</dt><dd>${isSandbox ? 'Sandbox' : 'Production'}, for keys that begin with
<code>${keyPrefix(environment)}</code></dd></div>
<div><dt>Endpoint</dt><dd><code>POST ${endpoint}</code></dd></div>
${otherFact(otherEndpoint, isSandbox)}<div><dt>Assistants</dt><dd><code>POST ${mcpEndpoint}</code>, over the Model Context Protocol, with
an MCP key</dd></div>
<div><dt>Keys</dt><dd>${keysFrom(about)} <a href="/docs#keys">Keys and scopes</a></dd></div>
<div><dt>Status</dt><dd>Beta: fields can be added at any time, and none is removed without notice.
<a href="/docs#versioning">Versioning</a></dd></div>
</dl>
<section aria-labelledby="first">
<h2 id="first">Your first request</h2>
<p>Set <code>PARTNER_LOYALTY_KEY</code> to your key${toReplace(isSandbox)}</p>
${codeBlock('A request to paste into a shell', firstRequest(endpoint, isSandbox))}
<p class="soft">If the member is not enrolled with you, the field is <code>null</code> and the error has
the code <code>MEMBER_NOT_FOUND</code>. Keep keys on servers, never in an app or a web page.</p>
<p>Next, follow the guide for what you want to build:
<a href="${guidePath('check-in')}">check-in</a>, <a href="${guidePath('nightly-batch')}">a copy of
your members</a>, <a href="${guidePath('events-and-webhooks')}">events and webhooks</a>,
<a href="${guidePath('sign-in-web')}">signing in</a>, or <a href="/docs#guides">another one</a>.</p>
</section>
<ul class="cards">${cards(about)}</ul>`;
  return framed(about, { title: 'Partner Loyalty API', path: '/', kind: 'home', main });
}

export function notFoundPage(about: About): string {
  const main = html`<h1>Page not found</h1>
<p>There is no page at this address.</p>
<ul class="cards">${cards(about)}</ul>`;
  return framed(about, { title: 'Page not found', path: '', kind: 'home', main });
}

const ADDRESS = 'ada@example.com';
/** A member of the demo data, with which a sandbox begins. */
const DEMO_ADDRESS = 'Teal.Heron@example.com';

function toReplace(isSandbox: boolean): Html {
  return isSandbox
    ? html`. <code>${DEMO_ADDRESS}</code> is in the demo data of a new sandbox. Without that
data, use the email address of one of your members.`
    : html`, and replace <code>${ADDRESS}</code> with the email address of one of your members.`;
}

function otherFact(endpoint: string | undefined, isSandbox: boolean): Html {
  return endpoint === undefined
    ? html``
    : html`<div><dt>${isSandbox ? 'Production' : 'Sandbox'}</dt>
<dd><code>POST ${endpoint}</code></dd></div>
`;
}

function firstRequest(endpoint: string, isSandbox: boolean): string {
  const query = 'query($email: String!) { memberByEmail(email: $email) { tier points } }';
  return `curl -s ${endpoint} \\
  -H 'content-type: application/json' \\
  -H "x-partner-api-key: $PARTNER_LOYALTY_KEY" \\
  -d '{
    "query": "${query}",
    "variables": { "email": "${isSandbox ? DEMO_ADDRESS : ADDRESS}" }
  }'`;
}

function keysFrom({ hasConsole }: About): Html {
  return hasConsole
    ? html`An admin of your company creates one in the <a href="/console/keys">console</a>; the operator
of this service invites the first admin.`
    : html`From the operator of this service, who creates one with
<code>npx --no-install loyalty keys create PARTNER</code>.`;
}

function cards({ hasExplorer, hasConsole }: About): Html[] {
  const documentation = html`<li><h2><a href="/docs">Documentation</a></h2>
<p>Guides, every operation with an example in seven languages, error codes and limits.</p></li>`;
  const explorer = html`<li><h2><a href="/explorer">Explorer</a></h2>
<p>Write operations with autocompletion, or start from an example, and run them with your key.</p></li>`;
  const console = html`<li><h2><a href="/console">Console</a></h2>
<p>Create and rotate keys, find your requests, set up webhooks and apps. For your company’s
staff.</p></li>`;
  return [documentation, ...(hasExplorer ? [explorer] : []), ...(hasConsole ? [console] : [])];
}
