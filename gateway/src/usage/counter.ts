// Counts which partner asks for which fields, and writes the counts every 10 seconds.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Cache, Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import { type GraphQLSchema, parse } from 'graphql';
import { visitInputFields } from '../document/deprecateduse.ts';
import type { ExecutableOperation } from '../document/executable.ts';
import { coordinatesOf } from '../schema/deprecations.ts';
import type { SurfaceName } from '../schema/surfaces.ts';
import type { FieldUsage, OperationUsage, UsageStore } from './usagestore.ts';

const WRITE_MS = 10_000;
/** Distinct operations between two writes. New ones beyond these are not counted. */
const MAX_OPERATIONS = 2_000;
/** Of those, in all: a caller may write 64 KiB in each. */
const MAX_CHARACTERS = 4_000_000;
/** What is known of a coordinate in the cache of those of an operation. */
const BYTES_PER_COORDINATE = 64;
/** Operations of so many characters are tallied before other work gets its turn. */
const CHARACTERS_IN_A_ROW = 2_000;

export type UsageCounter = {
  count(
    surface: SurfaceName,
    schema: GraphQLSchema,
    operation: ExecutableOperation,
    caller: Caller,
    variables: Record<string, unknown>,
  ): void;
  /** Writes what is counted so far. Never rejects: what cannot be written is logged and lost. */
  write(): Promise<void>;
  /** Writes for the last time. */
  close(): Promise<void>;
};

/** Counts by partner; the empty string stands for members whose tokens no partner holds. */
export type ByPartner = Map<string, number>;

type SurfaceCounts = {
  schema: GraphQLSchema;
  /** By the operation's printed form, which has no literals. */
  operations: Map<string, ByPartner>;
  /** By coordinate: the input fields that callers send in variables. */
  inputFields: Map<string, ByPartner>;
};

type Counts = Map<SurfaceName, SurfaceCounts>;

export function createUsageCounter(
  store: Pick<UsageStore, 'add'>,
  { caches, log }: { caches: Caches; log: Pick<Log, 'outage'> },
  today: () => string = () => new Date().toISOString().slice(0, 10),
): UsageCounter {
  const coordinates = createCoordinates(caches);
  let counts: Counts = new Map();
  /** Of the operations in `counts`. */
  let characters = 0;
  let writing: Promise<void> = Promise.resolve();

  async function writeCounts(taken: Counts): Promise<void> {
    try {
      const usage = await tally(taken, today(), coordinates.of);
      if (usage.operations.length > 0) await store.add(usage);
    } catch (error) {
      log.outage({ store: 'usage', err: error }, 'usage could not be written');
    }
  }

  function write(): Promise<void> {
    const taken = counts;
    counts = new Map();
    characters = 0;
    if (taken.size > 0) writing = writing.then(() => writeCounts(taken));
    return writing;
  }

  const timer = setInterval(write, WRITE_MS).unref();
  return {
    count(name, schema, { federated, inputVariables }, caller, variables) {
      if (federated === undefined) return;
      let surface = counts.get(name);
      if (surface === undefined || surface.schema !== schema) {
        // A new graph, whose coordinates may differ.
        if (surface !== undefined) void write();
        surface = { schema, operations: new Map(), inputFields: new Map() };
        counts.set(name, surface);
      }
      const partner = (caller.kind === 'service' ? undefined : caller.partnerId) ?? '';
      const { operations, inputFields } = surface;
      const { key } = federated;
      if (operations.has(key)) increment(operations, key, partner);
      else if (operations.size < MAX_OPERATIONS && characters + key.length <= MAX_CHARACTERS) {
        characters += key.length;
        increment(operations, key, partner);
      }
      for (const variable of inputVariables)
        visitInputFields(variables[variable.name], variable.type, (coordinate) =>
          increment(inputFields, coordinate, partner),
        );
    },
    write,
    async close() {
      clearInterval(timer);
      await write();
      coordinates.close();
    },
  };
}

export function increment(
  counts: Map<string, ByPartner>,
  what: string,
  partner: string,
  by = 1,
): void {
  let byPartner = counts.get(what);
  if (byPartner === undefined) {
    byPartner = new Map();
    counts.set(what, byPartner);
  }
  byPartner.set(partner, (byPartner.get(partner) ?? 0) + by);
}

async function tally(
  counts: Counts,
  day: string,
  coordinatesIn: (schema: GraphQLSchema, operation: string) => string[],
): Promise<{ fields: FieldUsage[]; operations: OperationUsage[] }> {
  const fields: FieldUsage[] = [];
  const operations: OperationUsage[] = [];
  for (const [surface, { schema, operations: byOperation, inputFields }] of counts) {
    const caller = (partner: string) => ({ day, surface, ...(partner && { partnerId: partner }) });
    const byCoordinate = new Map(inputFields);
    let inARow = 0;
    for (const [operation, byPartner] of byOperation) {
      if (inARow >= CHARACTERS_IN_A_ROW) {
        await nextTurn();
        inARow = 0;
      }
      inARow += operation.length;
      const coordinates = coordinatesIn(schema, operation);
      for (const [partner, count] of byPartner) {
        operations.push({ ...caller(partner), operation, count });
        for (const coordinate of coordinates) increment(byCoordinate, coordinate, partner, count);
      }
    }
    for (const [coordinate, byPartner] of byCoordinate)
      for (const [partner, count] of byPartner)
        fields.push({ ...caller(partner), coordinate, count });
  }
  return { fields, operations };
}

function createCoordinates(caches: Caches) {
  let schemas = 0;
  const ids = new WeakMap<GraphQLSchema, number>();
  const known: Cache<string[]> = caches.open((found) => found.length * BYTES_PER_COORDINATE);
  return {
    of(schema: GraphQLSchema, operation: string): string[] {
      const id = ids.get(schema) ?? ++schemas;
      ids.set(schema, id);
      const key = `${id} ${operation}`;
      const found = known.get(key) ?? coordinatesOf(parse(operation, { noLocation: true }), schema);
      known.set(key, found);
      return found;
    },
    close: known.close,
  };
}
