// What the reference says about the scopes of keys: the table, and what each root field needs.
import {
  DEFAULT_SCOPES,
  KEY_SCOPES,
  type KeyScope,
  type RootScopes,
  SCOPE_MEANINGS,
  type ScopeBits,
  scopeNames,
} from '@partner-loyalty/gateway/schema/scopes.ts';
import type { SurfaceName } from '@partner-loyalty/gateway/schema/surfaces.ts';
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import type { GraphQLSchema } from 'graphql';
import { referencePath } from './paths.ts';

export function keysSection(scopes: RootScopes): Html {
  const optional = KEY_SCOPES.filter((scope) => !DEFAULT_SCOPES.includes(scope));
  return html`<p>Admins of your company create keys in the <a href="/console/keys">console</a>. Only the
operator of the service can create keys for <code>/mcp</code>. A key can do only what its scopes
allow. Anything else fails with <a href="#FORBIDDEN"><code>FORBIDDEN</code></a>, and nothing runs.</p>
<table aria-labelledby="keys">
<thead><tr><th scope="col">Scope</th><th scope="col">Allows</th></tr></thead>
<tbody>${KEY_SCOPES.map((scope) => row(scope, scopes))}</tbody>
</table>
<p>By default, a key can have ${list(DEFAULT_SCOPES)}. The operator must allow
${list(optional)}. An MCP key has <code>read</code>.</p>`;
}

function row(scope: KeyScope, { query, mutation }: RootScopes): Html {
  const links = [
    ...fieldLinks('queries', query, scope),
    ...fieldLinks('mutations', mutation, scope),
  ].map((link, index) => html`${index === 0 ? '' : ', '}${link}`);
  return html`<tr><th scope="row"><code>${scope}</code></th>
<td>${SCOPE_MEANINGS[scope]}${links.length === 0 ? '' : ': '}${links}</td></tr>`;
}

function fieldLinks(
  kind: 'queries' | 'mutations',
  fields: ReadonlyMap<string, ScopeBits>,
  scope: KeyScope,
): Html[] {
  return [...fields]
    .filter(([, bits]) => scopeNames(bits).includes(scope))
    .map(
      ([name]) => html`<a href="${referencePath('partner', kind, name)}"><code>${name}</code></a>`,
    );
}

/** What a key needs for an operation. Nothing on a surface whose callers no scopes limit. */
export function scopeNeeded(
  kind: 'queries' | 'mutations',
  name: string,
  { scopes }: Documented,
): Html {
  const fields = kind === 'queries' ? scopes?.query : scopes?.mutation;
  const needed = scopeNames(fields?.get(name) ?? 0);
  return needed.length === 0
    ? html``
    : html`<p class="scope">Needs the <a href="/docs#keys">scope</a> ${list(needed)}.</p>`;
}

function list(scopes: readonly KeyScope[]): Html[] {
  return scopes.map((scope, index) => {
    const before = index === 0 ? '' : index === scopes.length - 1 ? ' and ' : ', ';
    return html`${before}<code>${scope}</code>`;
  });
}

export type Documented = {
  surface: SurfaceName;
  schema: GraphQLSchema;
  /** What its root fields need; undefined if scopes do not limit its callers. */
  scopes?: RootScopes | undefined;
};
