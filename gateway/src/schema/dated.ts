// Adds dates to the deprecation reasons of a supergraph that have none yet.
import {
  type ConstDirectiveNode,
  DEFAULT_DEPRECATION_REASON,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  Kind,
  parse,
  print,
} from 'graphql';
import { type DeprecationDates, datesFrom, datesIn, withDates } from './dates.ts';

type Deprecated = { coordinate: string; directive: ConstDirectiveNode; reason: string };

/**
 * The SDL with dates in the reason of each `@deprecated`. What `former` has deprecated already
 * keeps its dates; the rest is deprecated since `since`, and kept as long as promised. Throws a
 * GraphQLError if a text is not SDL.
 */
export function datedSdl(sdl: string, since: Date, former = ''): string {
  const undated = deprecatedIn(sdl).filter(({ reason }) => datesIn(reason) === undefined);
  if (undated.length === 0) return sdl;
  const known = new Map<string, DeprecationDates>();
  for (const { coordinate, reason } of deprecatedIn(former)) {
    const dates = datesIn(reason);
    if (dates !== undefined) known.set(coordinate, dates);
  }
  const fresh = datesFrom(since);
  let result = '';
  let end = 0;
  for (const { coordinate, directive, reason } of undated) {
    const { loc } = directive;
    if (loc === undefined) continue;
    const value = withDates(reason, known.get(coordinate) ?? fresh);
    const text = print({ kind: Kind.STRING, value });
    result += `${sdl.slice(end, loc.start)}@deprecated(reason: ${text})`;
    end = loc.end;
  }
  return result + sdl.slice(end);
}

/** In the order of the text. */
function deprecatedIn(sdl: string): Deprecated[] {
  if (!sdl.includes('@deprecated')) return [];
  return parse(sdl).definitions.flatMap((node) => {
    if (node.kind === Kind.ENUM_TYPE_DEFINITION)
      return (node.values ?? []).flatMap((value) => deprecated(value, node.name.value));
    if (!('fields' in node) || node.fields === undefined) return [];
    return node.fields.flatMap((field) => deprecatedOfField(field, node.name.value));
  });
}

/** A field's arguments come before its directives. */
function deprecatedOfField(
  field: FieldDefinitionNode | InputValueDefinitionNode,
  typeName: string,
): Deprecated[] {
  const args = 'arguments' in field ? (field.arguments ?? []) : [];
  const owner = `${typeName}.${field.name.value}`;
  return [...args.flatMap((arg) => deprecated(arg, owner)), ...deprecated(field, typeName)];
}

function deprecated(
  node: { name: { value: string }; directives?: readonly ConstDirectiveNode[] | undefined },
  owner: string,
): Deprecated[] {
  const directive = node.directives?.find(({ name }) => name.value === 'deprecated');
  if (directive === undefined) return [];
  const value = directive.arguments?.find(({ name }) => name.value === 'reason')?.value;
  const reason = value?.kind === Kind.STRING ? value.value : DEFAULT_DEPRECATION_REASON;
  return [{ coordinate: `${owner}.${node.name.value}`, directive, reason }];
}
