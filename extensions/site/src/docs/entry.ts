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
import { referencePath } from './paths.ts';
import { inline, paragraphs } from './prose.ts';
import type { Documented } from './scopes.ts';

export function fieldEntry(
  field: GraphQLField<unknown, unknown>,
  type: GraphQLNamedType,
  documented: Documented,
): Html {
  const described = field.args.filter((each) => each.description || each.deprecationReason != null);
  const details = described.map(
    (each) => html`<li><code>${each.name}</code>: ${inline(each.description ?? '')}
${deprecation(each)}</li>`,
  );
  const id = `${documented.surface}-${type.name}-${field.name}`;
  return entry(
    { ...field, id },
    signature(field, documented),
    details.length === 0 ? html`` : html`<ul class="arguments">${details}</ul>`,
  );
}

/** A field with its arguments and its type. */
export function signature(field: GraphQLField<unknown, unknown>, documented: Documented): Html {
  const inputs = field.args.map(
    (each, index) => html`${index === 0 ? '' : ', '}${input(each, documented)}`,
  );
  const taken = inputs.length === 0 ? html`` : html`(${inputs})`;
  return html`<b>${field.name}</b>${taken}: ${typeLink(field.type, documented)}`;
}

/** A field of an input type, with its anchor, or an argument of an operation. */
export function inputEntry(
  given: GraphQLInputField | GraphQLArgument,
  documented: Documented,
  id?: string,
): Html {
  return entry({ ...given, id }, input(given, documented, html`<b>${given.name}</b>`));
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
    : html`<a href="${referencePath(surface, 'types', name)}">${name}</a>`;
  return html`${text.slice(0, start)}${link}${text.slice(start + name.length)}`;
}

type Described = {
  id?: string | undefined;
  description?: string | null | undefined;
  deprecationReason?: string | null | undefined;
};

function entry({ id, ...described }: Described, code: Html, more: Html = html``): Html {
  return html`<dt${id === undefined ? '' : html` id="${id}"`}><code>${code}</code></dt>
<dd>${deprecation(described)}${paragraphs(described.description ?? '')}${more}</dd>`;
}

export function deprecation({ deprecationReason }: Pick<Described, 'deprecationReason'>): Html {
  if (deprecationReason == null) return html``;
  return html`<p class="deprecated"><strong>Deprecated.</strong> ${inline(deprecationReason)}</p>`;
}

function input(
  { name, type, astNode }: GraphQLArgument | GraphQLInputField,
  documented: Documented,
  shown: Html | string = name,
): Html {
  const literal = astNode?.defaultValue;
  return html`${shown}: ${typeLink(type, documented)}${literal ? ` = ${print(literal)}` : ''}`;
}
