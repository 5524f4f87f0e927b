// The page at `/docs`: the guides, what both surfaces have, and the rules of the API.
import type { ChangelogEntry } from '@partner-loyalty/gateway/graph/changelog.ts';
import { MONTHS_KEPT } from '@partner-loyalty/gateway/schema/dates.ts';
import type { RootScopes } from '@partner-loyalty/gateway/schema/scopes.ts';
import type { SurfaceName } from '@partner-loyalty/gateway/schema/surfaces.ts';
import { codeBlock, type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import type { GraphQLSchema } from 'graphql';
import type { About } from '../frame.ts';
import type { Changelogs } from './changelogs.ts';
import { errorExamples } from './examples.ts';
import { OUT_OF_SCOPE } from './llms.ts';
import { docsFramed, pagesContents, pagesList } from './page.ts';
import { DOCS_PATH, GUIDE_PAGES, guidePath, pagePath, TOPICS } from './paths.ts';
import { groupsOf } from './reference.ts';
import { keysSection } from './scopes.ts';
import { surfaceLists } from './surface.ts';
import { type Budget, errorsList, limitsTable } from './tables.ts';

type Served = {
  /** 0 if nothing was published. */
  version: number;
  schemas: Readonly<Record<SurfaceName, GraphQLSchema>>;
  /** The scopes of the partner surface; tokens have none. */
  scopes: RootScopes;
  changelogs: Changelogs;
};

type Section = { id: string; title: string; contents?: Html; body: Html };

/** The text of the page. Everything in it that comes from a schema is escaped. */
export function docsPage(about: About, served: Served, budget: Budget): string {
  const sections = sectionsOf(about, served, budget);
  return docsFramed(about, {
    path: DOCS_PATH,
    title: 'Documentation',
    contents: html`${pagesContents(DOCS_PATH)}${sections.map(
      ({ id, title, contents = '' }) => html`<li><a href="#${id}">${title}</a>${contents}</li>`,
    )}`,
    text: html`<h1>Documentation</h1>
<p class="claim">Guides and a reference for the ${about.environment} at
<code>${about.endpoint}</code>, generated from the schema that it serves now.</p>
${section({ id: 'guides', title: 'Guides', body: guides() })}
${section({ id: 'topics', title: 'In detail', body: pagesList(TOPICS) })}
${sections.map(section)}`,
  });
}

function section({ id, title, body }: Section): Html {
  return html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${body}
</section>`;
}

function guides(): Html {
  return html`<p>Each guide takes you through one task, from the first request to handling failures.</p>
${pagesList(GUIDE_PAGES)}
<p>The API reads and records what members earn. What they get for it stays in your own systems. Out of
scope: ${OUT_OF_SCOPE.join(', ')}.</p>`;
}

function sectionsOf(about: About, served: Served, budget: Budget): Section[] {
  const { scopes } = served;
  const { partner, member } = served.schemas;
  return [
    { id: 'requests', title: 'Requests', body: requests(about) },
    { id: 'keys', title: 'Keys and scopes', body: keysSection(scopes) },
    {
      id: 'partner',
      title: 'Partner surface',
      contents: contentsOf('partner', partner),
      body: html`<p>A partner key reads and changes the members who are enrolled with you.</p>
${surfaceLists({ surface: 'partner', schema: partner })}`,
    },
    {
      id: 'member',
      title: 'Member surface',
      contents: contentsOf('member', member),
      body: html`<p>A member’s token reads and changes the member’s own data.</p>
${surfaceLists({ surface: 'member', schema: member })}`,
    },
    { id: 'errors', title: 'Errors', body: errors(about) },
    { id: 'headers', title: 'Headers', body: headers() },
    { id: 'limits', title: 'Limits', body: limits(budget) },
    { id: 'versioning', title: 'Versioning', body: versioning() },
    { id: 'changelog', title: 'Changelog', body: changelog(served) },
  ];
}

function contentsOf(surface: SurfaceName, schema: GraphQLSchema): Html {
  const links = groupsOf(surface, schema).map(
    ({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`,
  );
  return html`<ul>${links}</ul>`;
}

function requests({ endpoint }: About): Html {
  const request = `POST ${endpoint}
content-type: application/json
x-partner-api-key: pk_test_…

{ "query": "{ memberByExternalId(externalId: \\"4711\\") { tier points } }" }`;
  return html`<p>Send a JSON object with <code>query</code> and, if needed, <code>variables</code> and
<code>operationName</code>. One header identifies you:</p>
<ul>
<li><code>x-partner-api-key</code>: a partner’s <a href="#keys">key</a>. Use it from servers only.</li>
<li><code>authorization: Bearer …</code>: a member’s token.</li>
</ul>
${codeBlock('A request', request)}
<p>Assistants read members at <code>/mcp</code>, over the Model Context Protocol, with an MCP key as
<code>x-api-key</code>.</p>
<p>A key can introspect its schema. Every response has an <code>x-request-id</code>: quote it when
you report a problem.</p>`;
}

function errors(about: About): Html {
  return html`<p>Branch on <code>extensions.code</code>; the wording of a <code>message</code> can
change. A request that fails a check has no <code>data</code>: nothing ran. A field that fails is
<code>null</code>, the others keep their values, and the status is 200.
<a href="${guidePath('errors-and-retries')}">Errors and retries</a> says when to send a request
again.</p>
${errorExamples(about)}
${errorsList()}`;
}

function headers(): Html {
  return html`<p>A key or a token is one header of a request; others state what is left of your budget
and identify the request. <a href="${pagePath('headers')}">All headers</a></p>`;
}

function limits(budget: Budget): Html {
  return html`<p>Each root field costs 1. A root field with a list argument, or with a page of
<code>first</code> entries, costs 1 for every 10 entries, rounded up. The <code>RateLimit</code> headers
state how much of your budget is left. When it is spent, wait for the number of seconds in
<code>Retry-After</code>.</p>
${limitsTable(budget)}`;
}

function versioning(): Html {
  return html`<p>The API is in beta and has one version. New fields, arguments, types, error codes and
headers can be added at any time, so ignore what you do not know. Nothing is removed before it
is deprecated. The deprecation reason in the schema states the date of the deprecation and the date
until which the field, argument or value is kept, at least ${MONTHS_KEPT} months later.</p>
<p>A response to an operation that uses something deprecated has the headers
<code>Deprecation</code> and <code>Sunset</code> with these dates, and a <code>Link</code> to the
changelog below.</p>`;
}

function changelog({ version, changelogs }: Served): Html {
  const served =
    version === 0
      ? 'the schema that this release of the service comes with'
      : `version ${version} of the schema`;
  return html`<p>This page describes ${served}.</p>
<h3 id="changelog-partner">Partner surface</h3>
${entriesList(changelogs.partner)}
<h3 id="changelog-member">Member surface</h3>
${entriesList(changelogs.member)}`;
}

function entriesList(entries: readonly ChangelogEntry[]): Html {
  const items = entries.map(
    ({ date, kind, coordinate, text }) =>
      html`<li><time datetime="${date}">${date}</time> <strong>${kind}</strong>${
        coordinate === undefined ? '' : html` <code>${coordinate}</code>`
      } ${text}</li>`,
  );
  return html`<ul>${items}</ul>`;
}
