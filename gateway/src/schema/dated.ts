// Adds dates to the deprecation reasons of a supergraph that have none yet.
import { DEFAULT_DEPRECATION_REASON, Kind, type Location, parse, print } from 'graphql';
import { type DeprecationDates, datesFrom, datesIn, withDates } from './dates.ts';
import { type DefinedElement, elementsIn } from './definitions.ts';

/** `loc` is the place of the directive. */
type Deprecated = { coordinate: string; loc: Location; reason: string };

/**
 * The SDL with dates in the reason of each `@deprecated`. What `former` has deprecated already
 * keeps its dates; the rest is deprecated since `since`, and kept as long as promised. Throws a
 * GraphQLError if a text is not SDL.
 */
export function datedSdl(sdl: string, since: Date, former = ''): string {
  if (isDated(sdl)) return sdl;
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
  for (const { coordinate, loc, reason } of undated) {
    const value = withDates(reason, known.get(coordinate) ?? fresh);
    const text = print({ kind: Kind.STRING, value });
    result += `${sdl.slice(end, loc.start)}@deprecated(reason: ${text})`;
    end = loc.end;
  }
  return result + sdl.slice(end);
}

/** The directive as Apollo and graphql-js print it, on a line. */
const DEPRECATED = /@deprecated(?:\(reason: ("(?:[^"\\\n]|\\.)*")\))?/g;

/** A quick look, since parsing holds the event loop up for long if the graph is large. */
function isDated(sdl: string): boolean {
  return Array.from(sdl.matchAll(DEPRECATED)).every(
    ([, reason]) => reason !== undefined && datesIn(reason) !== undefined,
  );
}

function deprecatedIn(sdl: string): Deprecated[] {
  if (!sdl.includes('@deprecated')) return [];
  const found = Array.from(elementsIn(parse(sdl))).flatMap(deprecated);
  return found.sort((one, other) => one.loc.start - other.loc.start);
}

function deprecated({ coordinate, node }: DefinedElement): Deprecated[] {
  const directive = node.directives?.find(({ name }) => name.value === 'deprecated');
  if (directive?.loc === undefined) return [];
  const value = directive.arguments?.find(({ name }) => name.value === 'reason')?.value;
  const reason = value?.kind === Kind.STRING ? value.value : DEFAULT_DEPRECATION_REASON;
  return [{ coordinate, loc: directive.loc, reason }];
}
