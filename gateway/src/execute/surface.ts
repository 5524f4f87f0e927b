// A surface as the gateway uses it: validates, prepares and executes clients' operations.
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { Trace } from '@partner-loyalty/runtime/observe/tracing/trace.ts';
import type { Caller } from '@partner-loyalty/runtime/transport/types.ts';
import type { GraphQLSchema } from 'graphql';
import { type ClientDocument, locatedNode, type Operation } from '../document/document.ts';
import {
  type ExecutableOperation,
  executableOperation,
  rootFieldsOf,
} from '../document/executable.ts';
import { type DefaultPages, defaultPagesOf } from '../document/lists.ts';
import { RESERVED_NAME } from '../document/literals.ts';
import { ResponseSize } from '../document/responsesize.ts';
import { requireValid, validationErrorsOf } from '../document/validation.ts';
import { coerceVariables } from '../document/variables.ts';
import { deprecationsOf } from '../schema/deprecations.ts';
import { READ_SCOPE, type RootScopes, type ScopeBits } from '../schema/scopes.ts';
import type { ServiceParts } from '../schema/supergraph.ts';
import type { SurfaceName } from '../schema/surfaces.ts';
import { type ExecutionResult, openExecutor, type Transports } from './executor.ts';
import { introspect } from './introspect.ts';
import type { MemberAccess } from './members.ts';

type OperationRequest = {
  variables: Record<string, unknown>;
  caller: Caller;
  requestId: string;
  sandboxNow?: number | undefined;
  trace?: Trace | undefined;
  /** Gets the members that the response shows or the operation has changed. */
  accesses?: MemberAccess[] | undefined;
};

export type Surface = {
  schema: GraphQLSchema;
  /** The schema as text: graphql-js cannot print each one. */
  sdl: string;
  defaultPages: DefaultPages;
  rootScopes: RootScopes;
  /** The parts of the whole graph. */
  parts: ServiceParts;
  /**
   * The scopes that a key needs for an operation: of its root fields and of introspection. Fields
   * that the surface does not have need none. Found once for each operation.
   */
  scopesFor(document: ClientDocument, operation: Operation): ScopeBits;
  /**
   * The executable form of an operation, made once for each document. Throws
   * GRAPHQL_VALIDATION_FAILED if the document does not fit the schema or has no operation, and
   * OPERATION_TOO_COMPLEX if it cannot be validated in bounded time.
   */
  prepare(document: ClientDocument, operation: Operation | undefined): ExecutableOperation;
  /**
   * Executes a prepared operation. Throws BAD_USER_INPUT if the variables do not fit it, and
   * OPERATION_TOO_COMPLEX if the response gets too large.
   */
  execute(
    operation: ExecutableOperation,
    request: OperationRequest,
  ): ExecutionResult | Promise<ExecutionResult>;
  /** Whether the document was prepared on this surface before. */
  knows(document: ClientDocument): boolean;
  /** Prepares and plans a document before the first request for it. Rejects as prepare throws. */
  warm(document: ClientDocument): Promise<void>;
  /** Lets go of the plans. What is being executed ends as usual. */
  close(): void;
};

/** Opens a surface over the transports, found by subgraph name. Rejects as openExecutor does. */
export async function openSurface(
  name: SurfaceName,
  supergraphSdl: string,
  transports: Transports,
  caches: Caches,
  audits = false,
): Promise<Surface> {
  const executor = await openExecutor(name, supergraphSdl, transports, caches, audits);
  const { schema, sdl, execute } = executor;
  const deprecations = deprecationsOf(schema);
  const valid = new WeakSet<ClientDocument>();
  const executables = new WeakMap<Operation, ExecutableOperation>();
  const scopes = new WeakMap<Operation, ScopeBits>();

  const surface: Surface = {
    schema,
    sdl,
    defaultPages: defaultPagesOf(schema),
    rootScopes: executor.scopes,
    parts: executor.parts,
    scopesFor(document, operation) {
      let bits = scopes.get(operation);
      if (bits === undefined) {
        bits = scopesNeeded(document, operation, executor.scopes);
        scopes.set(operation, bits);
      }
      return bits;
    },
    prepare(document, operation) {
      if (!valid.has(document)) requireValid(validationErrorsOf(locatedNode(document), schema));
      valid.add(document);
      if (operation === undefined)
        return fail('GRAPHQL_VALIDATION_FAILED', 'the document has no operation');
      let executable = executables.get(operation);
      if (executable === undefined) {
        executable = executableOperation(document.node, operation, schema, deprecations);
        executables.set(operation, executable);
      }
      return executable;
    },
    execute(operation, { variables, caller, requestId, sandboxNow, trace, accesses }) {
      const { federated, introspection, rootResponseKeys } = operation;
      const coerced = coerceVariables(schema, operation.variables, variables);
      const size = new ResponseSize();
      let result: ExecutionResult | Promise<ExecutionResult> = EMPTY;
      if (federated !== undefined) {
        const { key, literals, renamed } = federated;
        result = execute({
          key,
          variables: { ...withRenamed(variables, renamed), ...literals },
          coerced: withRenamed(coerced, renamed),
          caller,
          requestId,
          sandboxNow,
          trace,
          size,
          accesses,
        });
      }
      if (introspection === undefined) return result;
      const addIntrospection = (executed: ExecutionResult): ExecutionResult => {
        if (executed.data === null) return executed;
        const data = { ...executed.data, ...introspect(schema, introspection, variables, size) };
        return { ...executed, data: inOrder(data, rootResponseKeys) };
      };
      return result instanceof Promise ? result.then(addIntrospection) : addIntrospection(result);
    },
    knows: (document) => valid.has(document),
    async warm(document) {
      for (const operation of document.operations) {
        const { federated } = surface.prepare(document, operation);
        if (federated !== undefined) await executor.plan(federated.key);
      }
    },
    close: executor.close,
  };
  return surface;
}

function scopesNeeded(
  { node: document }: ClientDocument,
  { node, introspects }: Operation,
  { query, mutation }: RootScopes,
): ScopeBits {
  const known = node.operation === 'mutation' ? mutation : query;
  const fields = rootFieldsOf(document, node);
  return fields.reduce<ScopeBits>(
    (bits, { name }) => bits | (known.get(name.value) ?? 0),
    introspects ? READ_SCOPE : 0,
  );
}

type Values = Record<string, unknown>;

/** Whatever a caller sends by that name itself is no variable of the operation. */
function withRenamed(values: Values, name: string | undefined): Values {
  if (name === undefined) return values;
  const { [name]: _, ...own } = values;
  return Object.hasOwn(values, RESERVED_NAME) ? { ...own, [name]: values[RESERVED_NAME] } : own;
}

const EMPTY: ExecutionResult = { data: {}, errors: [], nullViolations: [] };

// Root fields in the order of the document (GraphQL, section 7.2.2).
function inOrder(data: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    keys.flatMap((key) => (Object.hasOwn(data, key) ? [[key, data[key]]] : [])),
  );
}
