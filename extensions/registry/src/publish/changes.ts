// How the surfaces of a graph change from one version to another.
import { type Change, ChangeType, CriticalityLevel, diff } from '@graphql-inspector/core';
import { servedSurface } from '@partner-loyalty/gateway/execute/federated.ts';
import type { VersionChange } from '@partner-loyalty/gateway/graph/graph.ts';
import { type Element, elementsOf } from '@partner-loyalty/gateway/schema/deprecations.ts';
import { SURFACE_NAMES, type SurfaceName } from '@partner-loyalty/gateway/schema/surfaces.ts';
import {
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isRequiredArgument,
  valueFromASTUntyped,
} from 'graphql';
import { CompositionError } from './faults.ts';

export type Kind = VersionChange['kind'];

/** `breaking` can make callers' operations fail, `dangerous` can change what they do. */
type Level = 'breaking' | 'dangerous' | 'safe';

export type SurfaceChange = {
  surface: SurfaceName;
  level: Level;
  /** What changes, as a schema coordinate: `Type.field(argument:)`. */
  coordinate: string;
  message: string;
  /** Undefined if only a description changes. */
  kind: Kind | undefined;
  /** The coordinates whose use a breaking change affects. */
  affected: readonly string[];
};

export type SurfaceSchemas = Readonly<Record<SurfaceName, GraphQLSchema>>;

const LEVELS: Readonly<Record<CriticalityLevel, Level>> = {
  [CriticalityLevel.Breaking]: 'breaking',
  [CriticalityLevel.Dangerous]: 'dangerous',
  [CriticalityLevel.NonBreaking]: 'safe',
};
const ORDER: readonly Level[] = ['breaking', 'dangerous', 'safe'];

type ServedSurfaces = Readonly<Record<SurfaceName, ReturnType<typeof servedSurface>>>;

/** The schema of each surface, as its callers see it. Throws as servedSurfaces does. */
export function surfaceSchemas(supergraph: string): SurfaceSchemas {
  return schemasOf(servedSurfaces(supergraph));
}

export function schemasOf({ partner, member }: ServedSurfaces): SurfaceSchemas {
  return { partner: partner.schema, member: member.schema };
}

/** All that a gateway builds. Throws a CompositionError if it could not serve one of them. */
export function servedSurfaces(supergraph: string): ServedSurfaces {
  const build = (surface: SurfaceName, validateSupergraph: boolean) => {
    try {
      const served = servedSurface(supergraph, surface, validateSupergraph);
      keepDefaultsAsWritten(served.schema);
      return served;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CompositionError([`the ${surface} surface: ${reason}`]);
    }
  };
  return { partner: build('partner', true), member: build('member', false) };
}

/**
 * Without what the fields of input types add to them: default values that contain each other would
 * be compared as often as they occur, 2^34 times for 35 types with two fields each.
 */
function keepDefaultsAsWritten(schema: GraphQLSchema): void {
  const inDirectives = schema.getDirectives().flatMap(({ args }) => args);
  for (const element of [...elementsOf(schema).values(), ...inDirectives]) {
    if (!('defaultValue' in element)) continue;
    const literal = element.astNode?.defaultValue;
    if (literal !== undefined) element.defaultValue = valueFromASTUntyped(literal);
  }
}

/** Every change, those of a surface together and the breaking ones first. */
export async function surfaceChanges(
  before: SurfaceSchemas,
  after: SurfaceSchemas,
): Promise<SurfaceChange[]> {
  const changes = await Promise.all(
    SURFACE_NAMES.map(async (surface) => {
      const schema = before[surface];
      const found = simplify(await diff(schema, after[surface]));
      // Without a path, another root type is named; the change of the type itself is listed too.
      return found
        .filter(({ path }) => path !== undefined)
        .map((change) => toSurfaceChange(surface, change, schema, after[surface]))
        .sort((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level));
    }),
  );
  return changes.flat();
}

function toSurfaceChange(
  surface: SurfaceName,
  { criticality, path = '', message, type }: Change,
  before: GraphQLSchema,
  after: GraphQLSchema,
): SurfaceChange {
  const level = LEVELS[criticality.level];
  const affected = level === 'breaking' ? affectedCoordinates(path, before, after) : [];
  const kind = kindOf(type, path);
  return { surface, level, coordinate: coordinateOf(path), message, kind, affected };
}

/** The inspector names its types like `FIELD_ADDED` and `ENUM_VALUE_DEPRECATION_REASON_ADDED`. */
function kindOf(type: string, path: string): Kind | undefined {
  if (type.includes('DESCRIPTION')) return undefined;
  const isDeprecation = path.includes('@deprecated');
  if (type.startsWith('DIRECTIVE_USAGE') && !isDeprecation) return 'changed';
  if (type.endsWith('_ADDED')) return isDeprecation ? 'deprecated' : 'added';
  return type.endsWith('_REMOVED') && !isDeprecation ? 'removed' : 'changed';
}

/** The inspector writes `Type.field.argument`, and adds the directive of a deprecation. */
function coordinateOf(path: string): string {
  const [type = '', member, argument] = path.split('.').filter((part) => part !== '@deprecated');
  if (argument !== undefined) return `${type}.${member}(${argument}:)`;
  return member === undefined ? type : `${type}.${member}`;
}

/** Parts of what is added come with it. */
const ADDED = new Set<string>([
  ChangeType.TypeAdded,
  ChangeType.FieldAdded,
  ChangeType.FieldArgumentAdded,
  ChangeType.InputFieldAdded,
  ChangeType.EnumValueAdded,
]);
const DEPRECATED = '.@deprecated';

/**
 * The changes without those of parts of what is added, and with one for each deprecation. The
 * inspector's own rule takes a new description or interface for an addition too, and then hides
 * breaking changes beside it.
 */
function simplify(changes: readonly Change[]): Change[] {
  const added = new Set(changes.flatMap(({ type, path }) => (ADDED.has(type) && path ? path : [])));
  const deprecated = new Set<string>();
  return changes.filter(({ type, path = '' }) => {
    if (ancestorsOf(path).some((ancestor) => added.has(ancestor))) return false;
    if (added.has(path) && !ADDED.has(type)) return false;
    const end = path.indexOf(DEPRECATED);
    if (end === -1) return true;
    const owner = path.slice(0, end);
    const isFirst = !deprecated.has(owner);
    deprecated.add(owner);
    return isFirst;
  });
}

/** `T.f.a` has `T` and `T.f`. */
function ancestorsOf(path: string): string[] {
  const parts = path.split('.');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'));
}

/** The most changes of a version on a surface; the breaking ones come first. */
const MAX_CHANGES = 200;
/** The others of them are one line. */
const MAX_ADDED = 20;
const MAX_TEXT = 300;
/** Of the coordinates and texts of a version on a surface. */
const MAX_CHARACTERS = 32_768;

/**
 * What is deprecated has its reason as the text, with the dates. If there are many additions on a
 * surface, its last line counts the others.
 */
export function versionChanges(
  changes: readonly Omit<SurfaceChange, 'affected'>[],
  after: SurfaceSchemas,
): VersionChange[] {
  const reasons = new Map<string, string>();
  for (const [surface, schema] of Object.entries(after))
    for (const [coordinate, { deprecationReason: reason }] of elementsOf(schema))
      if (reason) reasons.set(`${surface} ${coordinate}`, reason);
  return SURFACE_NAMES.flatMap((surface) => {
    const lines: VersionChange[] = [];
    let added = 0;
    let left = MAX_CHARACTERS;
    for (const { kind, coordinate, message } of changes.filter(
      (each) => each.surface === surface,
    )) {
      if (kind === 'added') added += 1;
      const isFolded = kind === 'added' && added > MAX_ADDED;
      if (kind === undefined || isFolded || lines.length === MAX_CHANGES) continue;
      const reason = kind === 'deprecated' ? reasons.get(`${surface} ${coordinate}`) : undefined;
      const text = cut(reason ?? message);
      left -= coordinate.length + text.length;
      if (left >= 0) lines.push({ surface, kind, coordinate, text });
    }
    const more = (added - MAX_ADDED).toLocaleString('en');
    const text = `… and ${more} more ${more === '1' ? 'addition' : 'additions'}`;
    return added > MAX_ADDED ? [...lines, { surface, kind: 'added', text }] : lines;
  });
}

/** The end has the dates. */
function cut(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  return `${text.slice(0, MAX_TEXT / 2)}…${text.slice(-MAX_TEXT / 2)}`;
}

/**
 * The coordinates of `before` that a change at `path` affects, in the form that usage is counted
 * in. A change of a whole type, or of a part that is not counted, affects whatever leads to the
 * type.
 */
export function affectedCoordinates(
  path: string,
  before: GraphQLSchema,
  after: GraphQLSchema,
): string[] {
  const [typeName = '', member, argument] = path.split('.').filter((part) => !part.startsWith('@'));
  const type = before.getType(typeName);
  if (type === undefined) return [];
  const [known, now] = [elementsOf(before), elementsOf(after)];
  const field = `${typeName}.${member}`;
  // If an argument or an input field is required now, operations without it fail.
  const becameRequired = (coordinate: string) =>
    isRequired(now.get(coordinate)) && !isRequired(known.get(coordinate));
  if (!known.has(field) || isEnumType(type)) return usesOf(type, known);
  if (isInputObjectType(type)) return becameRequired(field) ? usesOf(type, known) : [field];
  const coordinate = `${field}(${argument}:)`;
  return [known.has(coordinate) && !becameRequired(coordinate) ? coordinate : field];
}

function isRequired(element: Element | undefined): boolean {
  return element !== undefined && 'defaultValue' in element && isRequiredArgument(element);
}

/** The fields of a type, and the fields and arguments that have it as their type. */
function usesOf(type: GraphQLNamedType, elements: ReadonlyMap<string, Element>): string[] {
  const isUse = ([coordinate, element]: [string, Element]) =>
    'type' in element &&
    (getNamedType(element.type).name === type.name ||
      coordinate === `${type.name}.${element.name}`);
  return [...elements].filter(isUse).map(([coordinate]) => coordinate);
}
