// The entries of a reference: a field, an input, a value of an enum, each with what it links to.
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import {
  type GraphQLArgument,
  type GraphQLEnumValue,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLType,
  getNamedType,
  isSpecifiedScalarType,
  print,
} from 'graphql';
import { inline, paragraphs } from './prose.ts';
import { type Documented, scopeNeeded } from './scopes.ts';

export function fieldEntry(
  field: GraphQLField<unknown, unknown>,
  type: GraphQLNamedType,
  documented: Documented,
): Html {
  const { name, args } = field;
  const described = args.filter((each) => each.description || each.deprecationReason != null);
  const details = described.map(
    (each) => html`<li><code>${each.name}</code>: ${inline(each.description ?? '')}
${deprecation(each)}</li>`,
  );
  const id = `${documented.surface}-${type.name}-${name}`;
  const example = isRoot(type, documented) ? documented.examples?.get(name) : undefined;
  const shown = isRoot(type, documented)
    ? html`<a class="permalink" href="#${id}"><b>${name}</b></a>`
    : html`<b>${name}</b>`;
  return entry(
    { ...field, id },
    html`${shown}${signature(args, documented)}: ${typeLink(field.type, documented)}`,
    html`${details.length === 0 ? '' : html`<ul class="arguments">${details}</ul>`}
${scopeNeeded(name, type, documented)}${example ?? ''}`,
  );
}

function isRoot(type: GraphQLNamedType, { schema }: Documented): boolean {
  return type === schema.getQueryType() || type === schema.getMutationType();
}

export function inputEntry(
  field: GraphQLInputField,
  type: GraphQLNamedType,
  documented: Documented,
): Html {
  const id = `${documented.surface}-${type.name}-${field.name}`;
  return entry({ ...field, id }, input(field, documented, html`<b>${field.name}</b>`));
}

export function enumValueEntry(
  value: GraphQLEnumValue,
  type: GraphQLNamedType,
  { surface }: Documented,
): Html {
  return entry(
    { ...value, id: `${surface}-${type.name}-${value.name}` },
    html`<b>${value.name}</b>`,
  );
}

/** A type, whose name links to its section unless it is a built-in scalar. */
export function typeLink(type: GraphQLType, { surface }: Documented): Html {
  const named = getNamedType(type);
  const { name } = named;
  const text = String(type);
  const start = text.indexOf(name);
  const link = isSpecifiedScalarType(named)
    ? html`<span class="builtin">${name}</span>`
    : html`<a href="#${surface}-${name}">${name}</a>`;
  return html`${text.slice(0, start)}${link}${text.slice(start + name.length)}`;
}

type Described = {
  id: string;
  description?: string | null | undefined;
  deprecationReason?: string | null | undefined;
};

function entry(described: Described, code: Html, more: Html = html``): Html {
  return html`<dt id="${described.id}"><code>${code}</code></dt>
<dd>${deprecation(described)}${paragraphs(described.description ?? '')}${more}</dd>`;
}

function deprecation({ deprecationReason }: Pick<Described, 'deprecationReason'>): Html {
  if (deprecationReason == null) return html``;
  return html`<p class="deprecated"><strong>Deprecated.</strong> ${inline(deprecationReason)}</p>`;
}

function signature(args: readonly GraphQLArgument[], documented: Documented): Html {
  if (args.length === 0) return html``;
  const inputs = args.map(
    (each, index) => html`${index === 0 ? '' : ', '}${input(each, documented)}`,
  );
  return html`(${inputs})`;
}

function input(
  { name, type, astNode }: GraphQLArgument | GraphQLInputField,
  documented: Documented,
  shown: Html | string = name,
): Html {
  const literal = astNode?.defaultValue;
  return html`${shown}: ${typeLink(type, documented)}${literal ? ` = ${print(literal)}` : ''}`;
}
