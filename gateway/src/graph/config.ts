// Reads supergraph.yaml, in the format of Apollo's rover with options of our own.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isSubgraphCode } from '@partner-loyalty/runtime/errors.ts';
import { createParser, omitUndefined } from '@partner-loyalty/runtime/input.ts';
import { parse } from 'yaml';
import * as z from 'zod';
import type { SubgraphEntry } from './graph.ts';

/** A subgraph's name, which the names of its settings begin with. */
export const subgraphName = z
  .string()
  .regex(
    /^[a-z][a-z0-9_-]{0,62}$/,
    'must have 1 to 63 lower-case letters, digits, "-" or "_", and begin with a letter',
  );

/** A subgraph's own error code, which callers may see. */
export const subgraphCode = z
  .string()
  .regex(
    /^[A-Z][A-Z0-9_]{0,63}$/,
    'must have 1 to 64 capital letters, digits or "_", and begin with a letter',
  )
  .refine(isSubgraphCode, 'must not be a code that the gateway decides itself');

/** A subgraph of supergraph.yaml. */
type ConfiguredSubgraph = SubgraphEntry & {
  /** The path of its SDL. */
  schemaFile: string;
};

const CONFIG = z.object({
  subgraphs: z.record(
    subgraphName,
    z.strictObject({
      routing_url: z.string().optional(),
      schema: z.strictObject({ file: z.string() }),
      batching: z.boolean().default(false),
      codes: z.array(subgraphCode).default([]),
    }),
  ),
});

/** The subgraphs in the order of the file. Throws an error that names every fault. */
export function readSupergraphConfig(file: string): ConfiguredSubgraph[] {
  const parsed = createParser(CONFIG, 'the file')(parse(readFileSync(file, 'utf8')));
  if ('fault' in parsed) throw new Error(`${file}: ${parsed.fault}`);
  return Object.entries(parsed.value.subgraphs).map(
    ([name, { routing_url: url, schema, batching, codes }]) => ({
      ...omitUndefined({ name, url, batching, codes }),
      schemaFile: join(dirname(file), schema.file),
    }),
  );
}
