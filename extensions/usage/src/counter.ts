// Counts which partner asks for which fields, and writes the counts every 10 seconds.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { visitInputFields } from '@partner-loyalty/gateway/document/deprecateduse.ts';
import { keyOf } from '@partner-loyalty/gateway/document/executable.ts';
import { withoutLiterals } from '@partner-loyalty/gateway/document/literals.ts';
import { dayOf } from '@partner-loyalty/gateway/schema/dates.ts';
import { coordinatesOf } from '@partner-loyalty/gateway/schema/deprecations.ts';
import type { SurfaceName } from '@partner-loyalty/gateway/schema/surfaces.ts';
import type {
  FieldUsage,
  OperationUsage,
  UsageCounter,
} from '@partner-loyalty/gateway/usage/usage.ts';
import type { Cache, Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import { type GraphQLSchema, parse } from 'graphql';
import type { UsageStore } from './records.ts';
import { createWriter, type Writer } from './writer.ts';

const WRITE_MS = 10_000;
/** Distinct operations between two writes. Of new ones beyond these, only fields are counted. */
const MAX_OPERATIONS = 2_000;
/** The length of all operations together: a caller may write 64 KiB in each. */
const MAX_CHARACTERS = 4_000_000;
/** What is known of a coordinate in the cache of those of an operation. */
const BYTES_PER_COORDINATE = 160;
/** Operations of so many characters are tallied before other work gets its turn. */
const CHARACTERS_IN_A_ROW = 2_000;

/** Counts by partner; the empty string stands for members whose tokens no partner holds. */
type ByPartner = Map<string, number>;

type SurfaceCounts = {
  surface: SurfaceName;
  /** By the operation's printed form, where only default values have literals. */
  operations: Map<string, ByPartner>;
  /** By coordinate: what operations do not say. */
  coordinates: Map<string, ByPartner>;
};

/** By schema: that of a new graph may have other coordinates. */
type Counts = Map<GraphQLSchema, SurfaceCounts>;

export function createUsageCounter(
  store: Pick<UsageStore, 'add'>,
  { caches, log }: { caches: Caches; log: Pick<Log, 'outage'> },
  today: () => string = () => dayOf(Date.now()),
): Writer & Pick<UsageCounter, 'count'> {
  const known = createCoordinates(caches);
  let counts: Counts = new Map();
  /** The length of the operations in `counts`. */
  let characters = 0;

  function take(): Counts | undefined {
    const taken = counts;
    counts = new Map();
    characters = 0;
    return taken.size === 0 ? undefined : taken;
  }

  async function add(taken: Counts): Promise<void> {
    const usage = await tally(taken, today(), known.of);
    if (usage.operations.length > 0) await store.add(usage);
  }

  const writer = createWriter(take, add, { intervalMs: WRITE_MS, what: 'usage', log });
  return {
    ...writer,
    count(surface, schema, { federated, inputVariables }, caller, variables) {
      if (federated === undefined) return;
      let ofSchema = counts.get(schema);
      if (ofSchema === undefined) {
        ofSchema = { surface, operations: new Map(), coordinates: new Map() };
        counts.set(schema, ofSchema);
      }
      const partner = (caller.kind === 'service' ? undefined : caller.partnerId) ?? '';
      const { operations, coordinates } = ofSchema;
      const { key } = federated;
      const countField = (coordinate: string) => increment(coordinates, coordinate, partner);
      if (operations.has(key)) increment(operations, key, partner);
      else if (operations.size < MAX_OPERATIONS && characters + key.length <= MAX_CHARACTERS) {
        characters += key.length;
        increment(operations, key, partner);
      } else known.of(schema, key).forEach(countField);
      for (const variable of inputVariables)
        visitInputFields(variables[variable.name], variable.type, countField);
    },
    async close() {
      await writer.close();
      known.close();
    },
  };
}

function increment(counts: Map<string, ByPartner>, what: string, partner: string, by = 1): void {
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
  for (const [schema, { surface, operations: byOperation, coordinates: byCoordinate }] of counts) {
    const byText = new Map<string, ByPartner>();
    const caller = (partner: string) => ({ day, surface, ...(partner && { partnerId: partner }) });
    let inARow = 0;
    for (const [operation, byPartner] of byOperation) {
      if (inARow >= CHARACTERS_IN_A_ROW) {
        await nextTurn();
        inARow = 0;
      }
      inARow += operation.length;
      const coordinates = coordinatesIn(schema, operation);
      const text = withoutDefaults(operation);
      for (const [partner, count] of byPartner) {
        increment(byText, text, partner, count);
        for (const coordinate of coordinates) increment(byCoordinate, coordinate, partner, count);
      }
    }
    for (const [operation, byPartner] of byText)
      for (const [partner, count] of byPartner)
        operations.push({ ...caller(partner), operation, count });
    for (const [coordinate, byPartner] of byCoordinate)
      for (const [partner, count] of byPartner)
        fields.push({ ...caller(partner), coordinate, count });
  }
  return { fields, operations };
}

/** Callers may have written a member's address there. */
function withoutDefaults(operation: string): string {
  return operation.includes('=') ? keyOf(withoutLiterals(parse(operation))) : operation;
}

function createCoordinates(caches: Caches) {
  let schemas = 0;
  const ids = new WeakMap<GraphQLSchema, number>();
  const cache: Cache<string[]> = caches.open((found) => found.length * BYTES_PER_COORDINATE);
  return {
    of(schema: GraphQLSchema, operation: string): string[] {
      const id = ids.get(schema) ?? ++schemas;
      ids.set(schema, id);
      const key = `${id} ${operation}`;
      const found = cache.get(key) ?? coordinatesOf(parse(operation, { noLocation: true }), schema);
      cache.set(key, found);
      return found;
    },
    close: cache.close,
  };
}
