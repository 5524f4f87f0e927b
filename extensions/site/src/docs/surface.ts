// The reference of a surface: its operations and its types, from the schema that is served.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import {
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
} from 'graphql';
import { enumValueEntry, fieldEntry, inputEntry, typeLink } from './entry.ts';
import { inline, paragraphs } from './prose.ts';
import type { Documented } from './scopes.ts';

type SurfaceReference = { operations: Operations[]; types: GraphQLNamedType[] };
type Operations = { title: string; type: GraphQLObjectType };

/** The order of the kinds of types, and what each is called. */
const KINDS = [
  ['object', isObjectType],
  ['interface', isInterfaceType],
  ['union', isUnionType],
  ['input', isInputObjectType],
  ['enum', isEnumType],
  ['scalar', isScalarType],
] as const;

/** What a surface has, in the order of the page. */
export function referenceOf(schema: GraphQLSchema): SurfaceReference {
  const roots = [
    { title: 'Queries', type: schema.getQueryType() },
    { title: 'Mutations', type: schema.getMutationType() },
  ].flatMap(({ title, type }): Operations[] => (type ? [{ title, type }] : []));
  const others = Object.values(schema.getTypeMap()).filter(
    (type) =>
      !isIntrospectionType(type) &&
      !isSpecifiedScalarType(type) &&
      !roots.some((root) => root.type === type),
  );
  return { operations: roots, types: KINDS.flatMap(([, is]) => others.filter((each) => is(each))) };
}

/** The section of a surface, below its heading. Other requests are answered between two types. */
export async function surfaceSection(documented: Documented): Promise<Html[]> {
  const { surface, schema } = documented;
  const { operations, types } = referenceOf(schema);
  const section = operations.map(
    ({ title, type }) => html`<h3 id="${surface}-${type.name}">${title}</h3>
${membersOf(type, documented)}`,
  );
  section.push(html`<h3 id="${surface}-types">Types</h3>`);
  for (const type of types) {
    await nextTurn();
    section.push(typeEntry(type, documented));
  }
  return section;
}

function typeEntry(type: GraphQLNamedType, documented: Documented): Html {
  const { surface } = documented;
  const [kind] = KINDS.find(([, is]) => is(type)) ?? ['type'];
  return html`<div class="type" id="${surface}-${type.name}">
<h4><span class="kind">${kind}</span> <a class="permalink" href="#${surface}-${type.name}">${type.name}</a></h4>
${paragraphs(type.description ?? '')}
${specifiedBy(type)}
${membersOf(type, documented)}
</div>`;
}

function specifiedBy(type: GraphQLNamedType): Html {
  const url = isScalarType(type) ? type.specifiedByURL : undefined;
  return url ? html`<p class="soft">Specified by ${inline(url)}.</p>` : html``;
}

function membersOf(type: GraphQLNamedType, documented: Documented): Html {
  if (isUnionType(type)) {
    const members = type.getTypes().map((each) => html`<li>${typeLink(each, documented)}</li>`);
    return html`<ul>${members}</ul>`;
  }
  const entries = entriesOf(type, documented);
  return entries.length === 0 ? html`` : html`<dl class="fields">${entries}</dl>`;
}

function entriesOf(type: GraphQLNamedType, documented: Documented): Html[] {
  if (isEnumType(type))
    return type.getValues().map((each) => enumValueEntry(each, type, documented));
  if (isInputObjectType(type))
    return Object.values(type.getFields()).map((each) => inputEntry(each, type, documented));
  return isObjectType(type) || isInterfaceType(type)
    ? Object.values(type.getFields()).map((each) => fieldEntry(each, type, documented))
    : [];
}
