// The reference of a surface: lists of its operations and types, and a page for each of them.
import { costText } from '@partner-loyalty/gateway/document/lists.ts';
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import {
  type GraphQLNamedType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isUnionType,
} from 'graphql';
import type { About } from '../frame.ts';
import {
  deprecation,
  enumValueEntry,
  fieldEntry,
  inputEntry,
  signature,
  typeLink,
} from './entry.ts';
import { exampleOf } from './examples.ts';
import { docsFramed } from './page.ts';
import { DOCS_PATH } from './paths.ts';
import { inline, paragraphs } from './prose.ts';
import { type Group, groupsOf, KINDS, type Referred } from './reference.ts';
import { type Documented, scopeNeeded } from './scopes.ts';

const TITLES = { partner: 'Partner surface', member: 'Member surface' };

/** The lists of a surface, below its heading. Each item has the anchor of what it leads to. */
export function surfaceLists(documented: Documented): Html[] {
  return groupsOf(documented.surface, documented.schema).map(({ id, title, entries }) => {
    const items = entries.map(({ id, path, shown }) => {
      const [first = ''] = (shown.description ?? '').trim().split(/\n\s*\n/, 1);
      return html`<li id="${id}"><a href="${path}"><code>${shown.name}</code></a>
${reasonOf(shown) == null ? '' : html`<b>deprecated</b> `}${inline(first)}</li>`;
    });
    return html`<h3 id="${id}">${title}</h3>
<ul class="listed">${items}</ul>`;
  });
}

const contents = new WeakMap<Group[], Html>();

/** The links to all pages of a surface, made once: there may be thousands. */
function contentsOf({ surface, schema }: Documented): Html {
  const groups = groupsOf(surface, schema);
  const known = contents.get(groups);
  if (known !== undefined) return known;
  const lists = groups.map(({ id, title, entries }) => {
    const links = entries.map(
      ({ path, shown }) => html`<li><a href="${path}">${shown.name}</a></li>`,
    );
    return html`<li><a href="${DOCS_PATH}#${id}">${title}</a><ul>${links}</ul></li>`;
  });
  const made = html`<li><a href="${DOCS_PATH}">Documentation</a></li>${lists}`;
  contents.set(groups, made);
  return made;
}

/** The page of an operation or a type, with all others of its surface beside it. */
export function referencePage(about: About, documented: Documented, asked: Referred): string {
  const page = docsFramed(about, {
    path: asked.path,
    title: asked.shown.name,
    contents: contentsOf(documented),
    text: referenceText(about, documented, asked),
  });
  const link = `<li><a href="${asked.path}"`;
  return page.replace(link, () => `${link} aria-current="page"`);
}

/** The text of such a page. Everything in it that comes from a schema is escaped. */
export function referenceText(about: About, documented: Documented, asked: Referred): Html {
  const { surface, schema } = documented;
  const { id: anchor, kind, shown } = asked;
  const { id = '', title = '' } =
    groupsOf(surface, schema).find(({ entries: [first] }) => first?.kind === kind) ?? {};
  return html`<p class="soft"><a href="${DOCS_PATH}#${surface}">${TITLES[surface]}</a> › <a
 href="${DOCS_PATH}#${id}">${title}</a></p>
<h1 id="${anchor}">${asked.kind === 'types' ? html`<span class="kind">${kindOf(asked.shown)}</span> ` : ''}${shown.name}</h1>
${deprecation({ deprecationReason: reasonOf(shown) })}${paragraphs(shown.description ?? '')}
${asked.kind === 'types' ? typeText(asked.shown, documented) : operationText(about, documented, asked)}`;
}

function reasonOf(shown: Referred['shown']): string | null | undefined {
  return 'deprecationReason' in shown ? shown.deprecationReason : undefined;
}

function kindOf(type: GraphQLNamedType): string {
  return KINDS.find(([, is]) => is(type))?.[0] ?? 'type';
}

function operationText(
  about: About,
  documented: Documented,
  { kind, shown: field }: Exclude<Referred, { kind: 'types' }>,
): Html {
  const inputs = field.args.map((each) => inputEntry(each, documented));
  const example = exampleOf(documented.surface, field.name, documented.schema, about);
  const { description } = getNamedType(field.type);
  return html`${scopeNeeded(kind, field.name, documented)}
<p class="scope"><a href="/docs/limits#budget">Cost</a>: ${inline(costText(field.args))}.</p>
<p class="signature"><code>${signature(field, documented)}</code></p>
${inputs.length === 0 ? '' : html`<h2>Arguments</h2><dl class="fields">${inputs}</dl>`}
<h2>Returns</h2>
<p><code>${typeLink(field.type, documented)}</code></p>
${paragraphs(description ?? '')}
${example === undefined ? '' : html`<h2>Example</h2>${example}`}`;
}

function typeText(type: GraphQLNamedType, documented: Documented): Html {
  const url = isScalarType(type) ? type.specifiedByURL : undefined;
  const specified = url ? html`<p class="soft">Specified by ${inline(url)}.</p>` : html``;
  if (isUnionType(type)) {
    const members = type.getTypes().map((each) => html`<li>${typeLink(each, documented)}</li>`);
    return html`<ul>${members}</ul>`;
  }
  const entries = entriesOf(type, documented);
  return entries.length === 0 ? specified : html`<dl class="fields">${entries}</dl>`;
}

function entriesOf(type: GraphQLNamedType, documented: Documented): Html[] {
  if (isEnumType(type))
    return type.getValues().map((each) => enumValueEntry(each, type, documented));
  if (isInputObjectType(type))
    return Object.values(type.getFields()).map((each) =>
      inputEntry(each, documented, `${documented.surface}-${type.name}-${each.name}`),
    );
  return isObjectType(type) || isInterfaceType(type)
    ? Object.values(type.getFields()).map((each) => fieldEntry(each, type, documented))
    : [];
}
