// The requests to the registry, by an operator on the store or by a team over HTTP.
import type { GraphAction } from '@partner-loyalty/gateway/audit.ts';
import { subgraphCode, subgraphName } from '@partner-loyalty/gateway/graph/config.ts';
import type { Costs, GraphStore } from '@partner-loyalty/gateway/graph/graph.ts';
import type { FieldUsage } from '@partner-loyalty/gateway/usage/usage.ts';
import { createParser, quoted, text } from '@partner-loyalty/runtime/input.ts';
import { subgraphUrl } from '@partner-loyalty/runtime/settings/schemas.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import * as z from 'zod';
import type { Ran } from './publish/assess.ts';
import type { CheckedChange } from './publish/inuse.ts';
import type { Notice } from './publish/notices.ts';

/** Who makes a request. A team has a token, which is for one subgraph. */
export type Publisher =
  | { kind: 'operator' }
  | { kind: 'team'; tokenId: string; subgraph: string; owner: string };

/** What versions and the audit log say about a publisher; nothing about an operator. */
export function whoIs(publisher: Publisher): { owner?: string; tokenId?: string } {
  if (publisher.kind === 'operator') return {};
  const { owner, tokenId } = publisher;
  return { owner, tokenId };
}

/** What operations work on. */
export type Registry = {
  settings: Settings;
  store: Pick<GraphStore, 'latest' | 'version' | 'history' | 'append' | 'tables'>;
  /** How often fields were used since a day. */
  usage(since: string): Promise<FieldUsage[]>;
  /** Writes a line into the audit log, if there is one. */
  audit(action: GraphAction): void;
  ran?: Ran;
  /** What a graph may cost without approval. */
  mostCosts?: Costs;
};

/** In bytes, of a schema (docs/teams/publishing.md, Limits). */
export const MAX_SCHEMA_BYTES = 4 * 1_048_576;

const MAX_CODES = 100;

/** A subgraph's own error codes. */
export const subgraphCodes = z
  .array(z.string())
  .max(MAX_CODES, `has more than ${MAX_CODES} codes`)
  .transform((given, context) => {
    const all = [...new Set(given.map((code) => code.trim()))].filter((code) => code !== '');
    for (const code of all) {
      const fault = subgraphCode.safeParse(code).error?.issues[0];
      if (fault !== undefined) context.addIssue(`has ${quoted(code)}, which ${fault.message}`);
    }
    return all;
  });

const name = subgraphName;
/** An option of an entry that is left out keeps its value. */
const entry = {
  url: subgraphUrl.optional(),
  batching: z.boolean().optional(),
  codes: subgraphCodes.optional(),
};
const schema = {
  name,
  sdl: z
    .string()
    .refine((sdl) => Buffer.byteLength(sdl) <= MAX_SCHEMA_BYTES, 'is larger than 4 MiB'),
  /** Names the schema in faults. */
  file: text(1_000),
  ...entry,
  /** For operators: publishes even if the store holds no graph yet. */
  init: z.boolean().optional(),
};
const force = z.boolean().optional();
const version = z.int().min(0).max(1_000_000_000).optional();

const NOTHING = z.strictObject({}).transform((): object => ({}));

/** What each operation needs. */
const REQUESTS = {
  check: z.strictObject({ ...schema, strict: z.boolean().optional() }),
  publish: z.strictObject({
    ...schema,
    commit: text(100).optional(),
    message: text(500).optional(),
    approve: z.boolean().optional(),
    force,
  }),
  /** Rolls a subgraph, or for operators the graph, back to a version or to the previous one. */
  rollback: z.strictObject({ name: name.optional(), version, force }),
  remove: z.strictObject({ name, force }),
  list: NOTHING,
  whoami: NOTHING,
  pending: NOTHING,
  show: z.strictObject({ version }),
  approve: z.strictObject({ proposalId: text(100) }),
  rotateSecret: z.strictObject({ name, dropOld: z.boolean().optional() }),
} as const;

export type Operation = keyof typeof REQUESTS;
/** They change nothing and compose nothing. */
export const READING: ReadonlySet<Operation> = new Set([
  ...(['list', 'pending', 'show', 'whoami'] as const),
]);
export type RequestOf<Name extends Operation> = { operation: Name } & z.output<
  (typeof REQUESTS)[Name]
>;
/** JSON, the same on the store and over HTTP. */
export type RegistryRequest = { [Name in Operation]: RequestOf<Name> }[Operation];

/** What the command prints: the result, or one line that says why it was refused. */
export type Outcome = {
  changes?: CheckedChange[];
  notices?: Notice[];
  lines?: string[];
} & ({ result: object } | { refused: string });

/** Does an operation. Throws a Refusal if it is refused. */
export type Run<Name extends Operation> = (
  registry: Registry,
  publisher: Publisher,
  request: RequestOf<Name>,
) => Promise<Outcome>;

export function isOperation(name: string): name is Operation {
  return Object.hasOwn(REQUESTS, name);
}

/** The request in a body. The fault names what must change. */
export function parseRequest(
  operation: Operation,
  body: unknown,
): { value: RegistryRequest } | { fault: string } {
  const parsed = createParser<z.ZodType>(REQUESTS[operation], 'the body')(body);
  if ('fault' in parsed) return parsed;
  // Cast: the schema of the operation has parsed it.
  return { value: { operation, ...(parsed.value as object) } as RegistryRequest };
}

/** The publisher can act on it; the message is one line. */
export class Refusal extends Error {}

export function refuse(message: string): never {
  throw new Refusal(message);
}
