// The explorer's page and its parts: the script, its licenses, the schema for tokens.
import type { DocumentedGraph } from '@partner-loyalty/gateway/graph/served.ts';
import { keyPrefix } from '@partner-loyalty/gateway/identity/apikey.ts';
import { once } from '@partner-loyalty/runtime/once.ts';
import { html } from '@partner-loyalty/runtime/pages/html.ts';
import { pageHeaders } from '@partner-loyalty/runtime/pages/layout.ts';
import { textBeside } from '@partner-loyalty/runtime/pages/style.ts';
import { type About, EXPLORER_STYLE, framed } from '../frame.ts';
import { contentHash, onceForEach, prepare, type Route } from '../prepared.ts';

const EXPLORER_PATH = '/explorer';
const MEMBER_SCHEMA_PATH = '/explorer/schema/member';
const LICENSES_PATH = '/explorer/licenses.txt';

const PAGE_HEADERS = {
  ...pageHeaders(EXPLORER_STYLE, ["script-src 'self'", "connect-src 'self'", "form-action 'none'"]),
  'cache-control': 'no-cache',
};
const SCRIPT_HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  // Its path has the hash of its content.
  'cache-control': 'public, max-age=31536000, immutable',
};
const TEXT_HEADERS = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache' };

export function explorerRoutes(
  about: About,
  memberClaim: string,
  current: () => DocumentedGraph,
): [string, Route][] {
  const script = textBeside(import.meta.dirname, 'app.generated.js');
  const scriptPath = `/explorer/app-${contentHash(script)}.js`;
  const text = explorerPage(about, scriptPath, memberClaim);
  const licenses = once(() =>
    prepare(textBeside(import.meta.dirname, 'licenses.txt'), TEXT_HEADERS),
  );
  const memberSchema = onceForEach(current, async ({ surfaces }) =>
    prepare(surfaces.member.sdl, TEXT_HEADERS),
  );
  return [
    [EXPLORER_PATH, { isPage: true, content: once(() => prepare(text, PAGE_HEADERS)) }],
    [scriptPath, { isPage: false, content: once(() => prepare(script, SCRIPT_HEADERS)) }],
    [LICENSES_PATH, { isPage: false, content: licenses }],
    [MEMBER_SCHEMA_PATH, { isPage: false, content: memberSchema }],
  ];
}

/** What a sandbox does with requests. Browsers would keep a choice when the page loads again. */
const SANDBOX_MENUS = html`<div class="tools">
<label>Fault <select id="fault" autocomplete="off"><option value="">none</option>
<option>rate-limited</option><option>unavailable</option><option>timeout</option><option>error</option>
</select></label>
<label>Time <select id="days" autocomplete="off"><option value="">now</option>
<option value="30">in 30 days</option><option value="182">in 6 months</option>
<option value="366">in a year</option><option value="731">in two years</option></select></label>
</div>`;

/** `memberClaim` is the claim of an ID token that is the member's ID. */
export function explorerPage(about: About, scriptPath: string, memberClaim: string): string {
  const main = html`<h1 class="unseen">Explorer</h1>
<noscript><p class="notice">The explorer needs JavaScript. The <a href="/docs">reference</a> does
not.</p></noscript>
<form id="credential" class="credential" autocomplete="off">
<label for="secret">Partner key or ID token</label>
<input id="secret" class="secret" type="text" autocomplete="off" autocapitalize="off"
 autocorrect="off" spellcheck="false" placeholder="${keyPrefix(about.environment)}…" aria-describedby="kept">
<button type="submit" class="quiet">Use</button>
<button type="button" id="forget" class="quiet">Forget</button>
<p id="kept" class="soft">Kept in this tab, as is what you type, until you close it or press Forget,
and sent only to this service. Requests count against your budget, and changes are real.</p>
</form>
<p id="key-problem" class="notice problem" role="alert" hidden></p>
<div class="panes">
<section class="operation" aria-labelledby="operation-title">
<div class="tools">
<h2 id="operation-title">Operation</h2>
<label for="example" class="unseen">Example</label>
<select id="example"></select>
<button type="button" id="run">Run</button>
</div>
<div id="operation" class="editor"></div>
<h3>Variables</h3>
<p id="operation-problem" class="notice problem" role="alert" hidden></p>
<div id="variables" class="editor"></div>
${about.environment === 'sandbox' ? SANDBOX_MENUS : ''}
<div id="copies" class="tools">
<button type="button" id="format" class="quiet">Format</button>
</div>
</section>
<section id="result" class="result" aria-labelledby="result-title">
<div class="tools"><h2 id="result-title">Result</h2><p id="outcome" role="status"></p></div>
<p id="run-problem" class="notice problem" role="alert" hidden></p>
<dl id="headers"></dl>
<div id="response" class="editor"></div>
</section>
<section class="schema" aria-labelledby="schema-title">
<div class="tools"><h2 id="schema-title">Schema</h2>
<label for="search" class="unseen">Search the schema</label>
<input id="search" type="search" placeholder="Search" autocomplete="off" spellcheck="false"></div>
<p id="state" class="soft" role="status">Use a key or a token to see the schema that it opens.</p>
<div id="types"></div>
<p class="soft end"><a href="/docs">Reference</a> · <kbd>Ctrl</kbd> or <kbd>⌘</kbd> and
<kbd>Enter</kbd> run, <kbd>Ctrl</kbd> and <kbd>Space</kbd> complete ·
<a href="${LICENSES_PATH}">Licenses</a></p>
</section>
</div>`;
  return framed(about, {
    title: 'Explorer – Partner Loyalty API',
    path: EXPLORER_PATH,
    kind: 'explorer',
    main,
    attributes: {
      'data-endpoint': about.endpoint,
      'data-member-schema': MEMBER_SCHEMA_PATH,
      'data-member-claim': memberClaim,
    },
    style: EXPLORER_STYLE,
    head: html`<script type="module" src="${scriptPath}"></script>`,
  });
}
