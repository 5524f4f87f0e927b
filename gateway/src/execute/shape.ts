// Shapes subgraph data into the response, and stops a response that gets too large.
import { fragmentsOf } from '@partner-loyalty/runtime/cache/document.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { isJsonObject } from '@partner-loyalty/runtime/input.ts';
import { type MaybePromise, mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { TOO_DEEP } from '@partner-loyalty/runtime/transport/asked.ts';
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLAbstractType,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { ResponseSize } from '../document/responsesize.ts';
import { type Collect, createCollect, selectedTypes } from './collect.ts';
import { type Accesses, createAccessRecorder } from './members.ts';
import type { Data } from './merge.ts';
import { pathOf, type Steps } from './places.ts';

export type Path = readonly (string | number)[];

export type Shaping = {
  size: ResponseSize;
  violations: Violations;
  /** Gets the members in the response, if they are to be known. */
  accesses?: Accesses | undefined;
  /** Objects and lists that are at several places of the data. */
  shared?: ReadonlySet<unknown> | undefined;
  /** What these have become, by their completers. */
  shaped?: Map<Completer, Map<unknown, Shaped>>;
};

type Shaped = { completed: unknown; bytes: number };

/** A list may have many thousands; callers see the first few of each root field. */
const MAX_VIOLATIONS_PER_ROOT = 100;

/** Nulls that the schema forbids, and values that are not in it. */
export class Violations {
  readonly paths: Path[] = [];
  /** How often one was added, kept or not. */
  count = 0;
  private readonly perRoot = new Map<unknown, number>();

  add(last: Steps): void {
    this.count += 1;
    let root = last;
    while (root?.before !== undefined) root = root.before;
    const known = this.perRoot.get(root?.step) ?? 0;
    if (known >= MAX_VIOLATIONS_PER_ROOT) return;
    this.perRoot.set(root?.step, known + 1);
    this.paths.push(pathOf(last));
  }
}

/** Fields of a shape, for each type that its data has: some 5 MB, in each request of a flood. */
const MAX_COMPILED = 10_000;

export type Shape = {
  /**
   * Throws or rejects with OPERATION_TOO_COMPLEX if the response gets too large. A promise if it is
   * large: between the items of its lists, the event loop has its turn.
   */
  complete(data: Data, shaping: Shaping): MaybePromise<Data | null>;
  /**
   * The paths in the response to a place in the data: one for each alias of its fields, or, with
   * `isBrief`, of the root field.
   */
  responsePaths(path: Path, isBrief: boolean): Path[];
};

/** Completes the value at `step` below the path `before`. A promise only below lists. */
type Complete = (value: unknown, before: Steps, step: string | number, shaping: Shaping) => unknown;
type Completer = {
  complete: Complete;
  /** What is below, by the step of the data's path: the steps of the response's path. */
  below(step: string | number): readonly Below[];
};
type Below = { step: string | number; completer: Completer };
type ObjectCompleter = Completer & {
  completeAt(value: unknown, path: Steps, shaping: Shaping): MaybePromise<Data | null>;
};
type Compilation = {
  schema: GraphQLSchema;
  /** The types whose member ID is in the data although callers do not see it. */
  hiddenMembers: ReadonlySet<string>;
  collect: Collect;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** A field's name in the data. */
  nameOf(field: FieldNode): string;
  /** The root field that is being compiled. */
  operation: string;
  isMutation: boolean;
  onCompiled(fields: number): void;
};
type Sets = readonly SelectionSetNode[];
const NO_TYPES: ReadonlySet<string> = new Set();
/** An interface only if it has no object types, which an interface object may hide. */
type TypeWithFields = GraphQLObjectType | GraphQLInterfaceType;

/**
 * Compiles the only operation of a validated document; `nameOf` is a field's name in the data. A
 * shape is for one set of values of the variables that decide `@skip` and `@include`. Neither the
 * document nor the data can reach an object's prototype. An abstract type is compiled for each of
 * its types that the data has; `onCompiled` is called with the number of fields.
 */
export function compileShape(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Data,
  nameOf: (field: FieldNode) => string,
  hiddenMembers: ReadonlySet<string> = NO_TYPES,
  onCompiled: (fields: number) => void = () => {},
): Shape {
  let compiled = 0;
  const count = (fields: number) => {
    compiled += fields;
    if (compiled > MAX_COMPILED)
      fail('OPERATION_TOO_COMPLEX', 'the response has too many fields of too many types');
    onCompiled(fields);
  };
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  const root = operation && schema.getRootType(operation.operation);
  if (operation === undefined || !root)
    throw new Error('a validated document has an operation with a root type');
  const collect = createCollect(schema, document, variables);
  const fragments = fragmentsOf(document);
  const isMutation = root === schema.getMutationType();
  const types = { schema, hiddenMembers, isMutation };
  const compilation = { ...types, collect, fragments, nameOf, onCompiled: count, operation: '' };
  const completer = compileObject(compilation, root, [operation.selectionSet]);
  return {
    complete: (data, shaping) => completer.completeAt(data, undefined, shaping),
    responsePaths: (path, isBrief) => responsePathsFrom(completer, path, isBrief, 0, []),
  };
}

function responsePathsFrom(
  completer: Completer,
  path: Path,
  isBrief: boolean,
  depth: number,
  before: Path,
): Path[] {
  const step = path[depth];
  const below = step === undefined ? [] : completer.below(step);
  // Beyond the caller's fields, the path is the gateway's own.
  if (below.length === 0) return [before];
  const aliases = isBrief && depth > 0 ? below.slice(0, 1) : below;
  return aliases.flatMap(({ step: responseStep, completer: next }) =>
    responsePathsFrom(next, path, isBrief, depth + 1, [...before, responseStep]),
  );
}

function compileObject(
  compilation: Compilation,
  type: TypeWithFields,
  sets: Sets,
): ObjectCompleter {
  const typename = typenameOf(type);
  const recordAccess = createAccessRecorder(compilation, type, sets);
  const fields = Array.from(compilation.collect(type, sets), ([responseKey, nodes]) =>
    compileField(compilation, type, typename, responseKey, nodes),
  );
  compilation.onCompiled(fields.length);
  let byName: ReturnType<typeof belowByName> | undefined;

  function completeAt(value: unknown, path: Steps, shaping: Shaping): MaybePromise<Data | null> {
    if (!isJsonObject(value)) return nullAt(path, shaping);
    const { accesses } = shaping;
    if (accesses === undefined || recordAccess === undefined)
      return completeFields(value, path, shaping, new Fields(), 0);
    // First: what is below may be too much, but a mutation has changed this one.
    recordAccess(value, false, accesses);
    return mapMaybe(completeFields(value, path, shaping, new Fields(), 0), (late) => {
      if (late !== null) recordAccess(value, true, accesses);
      return late;
    });
  }

  function completeFields(
    data: Data,
    path: Steps,
    shaping: Shaping,
    result: Data,
    from: number,
  ): MaybePromise<Data | null> {
    for (let index = from; index < fields.length; index += 1) {
      // Cast: the index is one of the array.
      const field = fields[index] as (typeof fields)[number];
      const { name, isInherited, responseKey, bytes, nonNull, isLeaf, completer } = field;
      shaping.size.add(bytes);
      const own = (isInherited && !Object.hasOwn(data, name) ? undefined : data[name]) ?? null;
      const isShared = !isLeaf && shaping.shared?.has(own) === true;
      const completed = isShared
        ? completeOnce(completer, own, path, responseKey, shaping)
        : completer.complete(own, path, responseKey, shaping);
      if (!isLeaf && completed instanceof Promise)
        return resume(completed, data, path, shaping, result, index);
      if (completed === null && nonNull) return null;
      result[responseKey] = completed;
    }
    return result;
  }

  // Apart: in the loop, V8 would keep a context for each field.
  async function resume(
    completing: Promise<unknown>,
    data: Data,
    path: Steps,
    shaping: Shaping,
    result: Data,
    index: number,
  ): Promise<Data | null> {
    // Cast: the index is one of the array.
    const { responseKey, nonNull } = fields[index] as (typeof fields)[number];
    const completed = await completing;
    if (completed === null && nonNull) return null;
    result[responseKey] = completed;
    return completeFields(data, path, shaping, result, index + 1);
  }

  return {
    completeAt,
    complete: (value, before, step, shaping) => completeAt(value, { before, step }, shaping),
    below(step) {
      byName ??= belowByName(fields);
      return byName.get(step) ?? [];
    },
  };
}

/** Errors may be at thousands of places: what is below them is looked for once. */
function belowByName(
  fields: readonly { name: string; responseKey: string; completer: Completer }[],
): ReadonlyMap<string | number, Below[]> {
  const found = new Map<string, Below[]>();
  for (const { name, responseKey, completer } of fields) {
    const all = found.get(name) ?? [];
    all.push({ step: responseKey, completer });
    found.set(name, all);
  }
  return found;
}

/** Shapes what places share once, unless there is something to be said of each of them. */
function completeOnce(
  completer: Completer,
  value: unknown,
  before: Steps,
  step: string,
  shaping: Shaping,
): unknown {
  const { size, violations } = shaping;
  shaping.shaped ??= new Map();
  const known = shaping.shaped.get(completer) ?? new Map<unknown, Shaped>();
  shaping.shaped.set(completer, known);
  const earlier = known.get(value);
  if (earlier !== undefined) {
    size.add(earlier.bytes);
    return earlier.completed;
  }
  const [{ bytes }, { count }] = [size, violations];
  const completed = completer.complete(value, before, step, shaping);
  if (violations.count === count && !(completed instanceof Promise))
    known.set(value, { completed, bytes: size.bytes - bytes });
  return completed;
}

/** An object without Object's prototype that V8 keeps fast, unlike one of Object.create(null). */
const Fields = function Fields() {} as unknown as new () => Data; // Cast: called with `new` only.
Fields.prototype = Object.create(null);

function typenameOf({ name }: TypeWithFields): Completer {
  const complete: Complete = (_value, _before, _step, { size }) => {
    size.addString(name);
    return name;
  };
  return { complete, below: nothing };
}

function compileField(
  compilation: Compilation,
  type: TypeWithFields,
  typename: Completer,
  responseKey: string,
  nodes: readonly FieldNode[],
) {
  const [node] = nodes;
  if (node === undefined) throw new Error('a response key has a field');
  // With quotes, colon and comma.
  const bytes = responseKey.length + 4;
  const name = compilation.nameOf(node);
  // Only such a name has to be looked for twice.
  const isInherited = name in Object.prototype;
  const field = { name, isInherited, responseKey, bytes };
  if (node.name.value === '__typename')
    return { ...field, isLeaf: true, nonNull: true, completer: typename };
  const definition = type.getFields()[node.name.value];
  if (definition === undefined)
    throw new Error(`a validated document selects ${type.name}.${node.name.value}`);
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const below =
    compilation.operation === '' ? { ...compilation, operation: node.name.value } : compilation;
  const completer = compileType(below, definition.type, sets);
  // A list is none, whatever it has: it may have to wait for its turn.
  const isLeaf = isLeafType(getNullableType(definition.type));
  return { ...field, isLeaf, nonNull: isNonNullType(definition.type), completer };
}

// Most fields are leaves. They share their completers, which would take most of a shape's memory.
function compileType(compilation: Compilation, type: GraphQLOutputType, sets: Sets): Completer {
  const isRequired = isNonNullType(type);
  const inner = isRequired ? type.ofType : type;
  if (isScalarType(inner)) return leafOf(inner.name, isRequired);
  const completer = compileInner(compilation, inner, sets);
  return isRequired ? required(completer) : optional(completer);
}

function compileInner(compilation: Compilation, type: GraphQLOutputType, sets: Sets): Completer {
  if (isListType(type))
    return compileList(type.ofType, compileType(compilation, type.ofType, sets));
  if (isObjectType(type)) return compileObject(compilation, type, sets);
  if (isAbstractType(type)) return compileAbstract(compilation, type, sets);
  const complete: Complete = (value, before, step, shaping) =>
    typeof value === 'string' && isEnumType(type) && type.getValue(value) !== undefined
      ? completeLeaf(value, before, step, shaping)
      : nullFor(before, step, shaping);
  return { complete, below: nothing };
}

function compileAbstract(
  compilation: Compilation,
  type: GraphQLAbstractType,
  sets: Sets,
): Completer {
  const { schema } = compilation;
  if (isInterfaceType(type) && schema.getPossibleTypes(type).length === 0)
    return compileObject(compilation, type, sets);
  let selected: ReturnType<typeof selectedTypes> | undefined;
  const byType = new Map<GraphQLObjectType, Completer>();
  const known = new Map<string | number, readonly Below[]>();
  const completerOf = (found: GraphQLObjectType): Completer => {
    const completer = byType.get(found) ?? compileObject(compilation, found, sets);
    byType.set(found, completer);
    return completer;
  };
  return {
    complete(value, before, step, shaping) {
      const name = (value as Data).__typename;
      const found = typeof name === 'string' ? schema.getType(name) : undefined;
      if (!isObjectType(found) || !schema.isSubType(type, found))
        return nullFor(before, step, shaping);
      if (!byType.has(found)) shaping.size.pauseSoon();
      return completerOf(found).complete(value, before, step, shaping);
    },
    // The data may be null, so the first type that has the field decides.
    below(step) {
      const before = known.get(step);
      if (before !== undefined) return before;
      selected ??= selectedTypes(compilation, type, sets);
      for (const found of selected.get(step) ?? []) {
        const below = completerOf(found).below(step);
        known.set(step, below);
        if (below.length > 0) return below;
      }
      return [];
    },
  };
}

function compileList(item: GraphQLOutputType, completer: Completer): Completer {
  const { complete } = completer;
  const nonNull = isNonNullType(item);

  function completeItems(
    list: readonly unknown[],
    path: Steps,
    shaping: Shaping,
    completed: unknown[],
  ): unknown {
    for (let index = completed.length; index < list.length; index += 1) {
      const pause = shaping.size.pause();
      if (pause !== undefined) return resume(pause, list, path, shaping, completed);
      const one = complete(list[index] ?? null, path, index, shaping);
      if (one instanceof Promise) return resume(one, list, path, shaping, completed);
      completed.push(one);
    }
    return nonNull && completed.includes(null) ? null : completed;
  }

  async function resume(
    waiting: Promise<unknown>,
    list: readonly unknown[],
    path: Steps,
    shaping: Shaping,
    completed: unknown[],
  ): Promise<unknown> {
    const one = await waiting;
    // After a tick, there is none.
    if (one !== undefined) completed.push(one);
    return completeItems(list, path, shaping, completed);
  }

  return {
    complete(value, before, step, shaping) {
      if (!Array.isArray(value)) return nullFor(before, step, shaping);
      shaping.size.add(value.length + 2);
      return completeItems(value, { before, step }, shaping, []);
    },
    below: (step) => (typeof step === 'number' ? [{ step, completer }] : []),
  };
}

function optional({ complete, below }: Completer): Completer {
  const completeOptional: Complete = (value, before, step, shaping) =>
    value === null ? null : complete(value, before, step, shaping);
  return { complete: completeOptional, below };
}

// A null that comes from a nested field has been reported there.
function required({ complete, below }: Completer): Completer {
  const completeRequired: Complete = (value, before, step, shaping) =>
    value === null ? nullFor(before, step, shaping) : complete(value, before, step, shaping);
  return { complete: completeRequired, below };
}

function completeLeaf(
  value: unknown,
  _before: Steps,
  _step: string | number,
  { size }: Shaping,
): unknown {
  if (typeof value === 'string') size.addString(value);
  else size.addValue(value);
  return value;
}

/** A string, or an ID that a subgraph returns as a number if `isId`. */
function completeText(isId: boolean): Complete {
  return (value, before, step, shaping) => {
    if (typeof value === 'string') shaping.size.addString(value);
    else if (isId && Number.isSafeInteger(value)) shaping.size.addValue(value);
    else return nullFor(before, step, shaping);
    return value;
  };
}

function completeIf(isValid: (value: unknown) => boolean): Complete {
  return (value, before, step, shaping) =>
    isValid(value) ? completeLeaf(value, before, step, shaping) : nullFor(before, step, shaping);
}

/** What subgraphs may return for a scalar: as stock @apollo/gateway has it, anything for others. */
const LEAVES: ReadonlyMap<string, Leaf> = new Map([
  ['String', leaf(completeText(false))],
  ['ID', leaf(completeText(true))],
  ['Int', leaf(completeIf(Number.isInteger))],
  ['Float', leaf(completeIf(Number.isFinite))],
  ['Boolean', leaf(completeIf((value) => typeof value === 'boolean'))],
]);
const ANY_LEAF = leaf(completeIf((value) => value !== TOO_DEEP));

type Leaf = { optional: Completer; required: Completer };

function leaf(complete: Complete): Leaf {
  const completer: Completer = { complete, below: nothing };
  return { optional: optional(completer), required: required(completer) };
}

function leafOf(scalar: string, isRequired: boolean): Completer {
  const { optional, required } = LEAVES.get(scalar) ?? ANY_LEAF;
  return isRequired ? required : optional;
}

function nullFor(before: Steps, step: string | number, shaping: Shaping): null {
  return nullAt({ before, step }, shaping);
}

function nullAt(path: Steps, { violations }: Shaping): null {
  violations.add(path);
  return null;
}

function nothing(): readonly [] {
  return [];
}
