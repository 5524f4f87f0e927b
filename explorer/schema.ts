// The panel that shows the schema: operations first, then types, with a search.
import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  isUnionType,
  print,
} from 'graphql';
import { costText } from '../gateway/src/document/lists.ts';
import { element } from './copy.ts';

type Input = Pick<GraphQLArgument, 'name' | 'type' | 'defaultValue'>;

type Entry = {
  name: string;
  args: readonly Input[];
  type?: GraphQLType;
  /** The default of an input field. */
  initial?: string;
  description?: string | null | undefined;
  deprecationReason?: string | null | undefined;
};

/** Shows a schema in place of the one before. */
export function showSchema(panel: HTMLElement, schema: GraphQLSchema): void {
  const roots = [schema.getQueryType(), schema.getMutationType()].filter((type) => type != null);
  const others = Object.values(schema.getTypeMap()).filter(
    (type) =>
      !isIntrospectionType(type) &&
      !isSpecifiedScalarType(type) &&
      !roots.some((root) => root === type),
  );
  panel.replaceChildren(
    ...roots.map((type) => typeElement(type, true)),
    ...others.map((type) => typeElement(type, false)),
  );
}

/** Hides what does not contain the text; opens what does. */
export function searchSchema(panel: HTMLElement, text: string): void {
  const sought = text.trim().toLowerCase();
  for (const type of panel.querySelectorAll('details')) {
    const entries = [...type.querySelectorAll<HTMLElement>('.entry')];
    const isNamed = (type.dataset.name ?? '').toLowerCase().includes(sought);
    const found = entries.filter((each) => each.textContent?.toLowerCase().includes(sought));
    for (const each of entries) each.hidden = !isNamed && !found.includes(each);
    type.hidden = !isNamed && found.length === 0;
    type.open = sought === '' ? type.dataset.root === 'yes' : found.length > 0;
  }
}

/** How many operations a schema has, in words. */
export function summaryOf(schema: GraphQLSchema): string {
  const count = (type: { getFields(): object } | null | undefined) =>
    Object.keys(type?.getFields() ?? {}).length;
  return `${count(schema.getQueryType())} queries, ${count(schema.getMutationType())} mutations`;
}

function typeElement(type: GraphQLNamedType, isRoot: boolean): HTMLElement {
  const details = element(
    'details',
    {
      id: `type-${type.name}`,
      'data-name': type.name,
      ...(isRoot && { 'data-root': 'yes', open: '' }),
    },
    element('summary', {}, type.name),
  );
  if (type.description) details.append(element('p', { class: 'soft' }, type.description));
  details.append(...entriesOf(type).map((entry) => entryElement(entry, isRoot)));
  return details;
}

function entriesOf(type: GraphQLNamedType): Entry[] {
  if (isObjectType(type) || isInterfaceType(type)) return Object.values(type.getFields());
  if (isInputObjectType(type))
    return Object.values(type.getFields()).map((field) => {
      return { ...field, args: [], initial: defaultText(field) };
    });
  if (isEnumType(type)) return type.getValues().map((value) => ({ ...value, args: [] }));
  if (isUnionType(type))
    return type.getTypes().map((member) => ({ name: '', args: [], type: member }));
  return [];
}

function entryElement({ name, args, type, ...entry }: Entry, isRoot: boolean): HTMLElement {
  const { description, deprecationReason, initial = '' } = entry;
  const code = element('code', {}, element('b', {}, name));
  args.forEach((argument, index) => {
    code.append(index === 0 ? '(' : ', ', `${argument.name}: `, ...typeParts(argument.type));
    code.append(defaultText(argument));
  });
  if (args.length > 0) code.append(')');
  if (type !== undefined) code.append(name === '' ? '' : ': ', ...typeParts(type), initial);
  const shown = element('div', { class: 'entry' }, code);
  if (deprecationReason != null)
    shown.append(element('p', { class: 'deprecated' }, `Deprecated. ${deprecationReason}`));
  if (description) shown.append(element('p', {}, description));
  if (isRoot) shown.append(element('p', {}, `Cost: ${costText(args).replaceAll('`', '')}.`));
  return shown;
}

/** As in the schema; a default of a custom scalar, which may be any object, as JSON. */
function defaultText({ type, defaultValue }: Input): string {
  if (defaultValue === undefined) return '';
  try {
    const literal = astFromValue(defaultValue, type);
    return literal ? ` = ${print(literal)}` : '';
  } catch {
    return ` = ${JSON.stringify(defaultValue)}`;
  }
}

/** A type as text, in which its name is a link to it. */
function typeParts(type: GraphQLType): (Node | string)[] {
  const named = getNamedType(type);
  const text = String(type);
  if (isSpecifiedScalarType(named)) return [text];
  const start = text.indexOf(named.name);
  const link = element('a', { href: `#type-${named.name}` }, named.name);
  link.addEventListener('click', (event) => {
    event.preventDefault();
    openType(named.name);
  });
  return [text.slice(0, start), link, text.slice(start + named.name.length)];
}

function openType(name: string): void {
  const target = document.getElementById(`type-${name}`);
  if (!(target instanceof HTMLDetailsElement)) return;
  target.hidden = false;
  for (const entry of target.querySelectorAll<HTMLElement>('.entry')) entry.hidden = false;
  target.open = true;
  target.querySelector('summary')?.focus();
  target.scrollIntoView({ block: 'nearest' });
}
