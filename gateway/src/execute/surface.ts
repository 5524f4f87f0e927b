// A surface as the gateway uses it: validates, prepares and executes clients' operations.
import type { Caches } from '@partner-loyalty/runtime/cache/caches.ts';
import { fail } from '@partner-loyalty/runtime/errors.ts';
import { mapMaybe } from '@partner-loyalty/runtime/maybe.ts';
import { type ClientDocument, locatedNode, type Operation } from '../document/document.ts';
import { type ExecutableOperation, executableOperation } from '../document/executable.ts';
import { type DefaultPages, defaultPagesOf } from '../document/lists.ts';
import { RESERVED_NAME } from '../document/literals.ts';
import { ResponseSize, type Turn } from '../document/responsesize.ts';
import { requireValid, validationErrorsOf } from '../document/validation.ts';
import { coerceVariables } from '../document/variables.ts';
import { deprecationsOf } from '../schema/deprecations.ts';
import { READ_SCOPE, type ScopeBits } from '../schema/scopes.ts';
import type { SurfaceName } from '../schema/surfaces.ts';
import {
  type Execution,
  type ExecutionResult,
  type Executor,
  openExecutor,
  type Transports,
} from './executor.ts';
import { introspect } from './introspect.ts';

export type Surface = Omit<Executor, 'prepare' | 'execute'> & {
  defaultPages: DefaultPages;
  /**
   * The scopes that a key needs for an operation: of its root fields and of introspection. Fields
   * that the surface does not have need none.
   */
  scopesFor(operation: Operation): ScopeBits;
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
    request: Omit<Execution, 'key' | 'coerced' | 'size'> & {
      turn?: Turn;
      /** Resolves when the response to introspection may be built. */
      placed?: () => Promise<void>;
    },
  ): ExecutionResult | Promise<ExecutionResult>;
  /** Whether the document was prepared on this surface before. */
  knows(document: ClientDocument): boolean;
  /** Prepares and plans a document before the first request for it. Rejects as prepare throws. */
  warm(document: ClientDocument): Promise<void>;
};

/** Opens a surface over the transports, found by subgraph name. Rejects as openExecutor does. */
export async function openSurface(
  name: SurfaceName,
  supergraphSdl: string,
  transports: Transports,
  caches: Caches,
  audits = false,
): Promise<Surface> {
  const opened = await openExecutor(name, supergraphSdl, transports, caches, audits);
  const { prepare, execute, ...executor } = opened;
  const { schema, rootScopes } = executor;
  const deprecations = deprecationsOf(schema);
  const valid = new WeakSet<ClientDocument>();
  const executables = new WeakMap<Operation, ExecutableOperation>();

  const surface: Surface = {
    ...executor,
    defaultPages: defaultPagesOf(schema),
    scopesFor({ node, introspects, rootFields }) {
      const known = node.operation === 'mutation' ? rootScopes.mutation : rootScopes.query;
      const bits = introspects ? READ_SCOPE : 0;
      return rootFields.reduce((all, { name }) => all | (known.get(name) ?? 0), bits);
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
    execute(
      operation,
      { variables, caller, requestId, sandboxNow, trace, accesses, turn, placed },
    ) {
      const { federated, introspection, rootResponseKeys } = operation;
      const coerced = coerceVariables(schema, operation.variables, variables);
      const size = new ResponseSize(undefined, turn);
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
      const addIntrospection = async (executed: ExecutionResult): Promise<ExecutionResult> => {
        if (executed.data === null) return executed;
        await placed?.();
        const data = { ...executed.data, ...introspect(schema, introspection, variables, size) };
        return { ...executed, data: inOrder(data, rootResponseKeys) };
      };
      return mapMaybe(result, addIntrospection);
    },
    knows: (document) => valid.has(document),
    async warm(document) {
      for (const operation of document.operations) {
        const { federated } = surface.prepare(document, operation);
        if (federated !== undefined) await prepare(federated.key);
      }
    },
  };
  return surface;
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
