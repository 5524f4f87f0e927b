// What both clients have: a method for each root field, `request`, and the budget.

import { callError, type Limits } from './http/response.ts';
import type { Received, Sender } from './http/sender.ts';
import type { Document, RequestOptions, RequestResult } from './options.ts';
import { buildDocument } from './surface/document.ts';
import type { CallOptions } from './surface/operation.ts';
import { type AnySelection, type Field, misfit, namedType, type Schema } from './surface/schema.ts';

export type Surface = {
  schema: Schema;
  /** The default selection of each type. */
  defaults: Readonly<Record<string, AnySelection>>;
  /** Whether each mutation may run twice. */
  mutations: Readonly<Record<string, boolean>>;
};

export type Base = {
  /**
   * Sends a document of your own. Rejects if the service refuses it, or if every field is null
   * because the service is not available; errors of single fields are in the result.
   */
  request<Data = unknown, Variables = Record<string, unknown>>(
    document: Document<Data, Variables>,
    variables?: Variables,
    options?: RequestOptions,
  ): Promise<RequestResult<Data>>;
  /** The budget as the latest response reports it. */
  readonly limits: Limits | undefined;
};

type Method = (
  variables: Record<string, unknown>,
  options?: CallOptions & { select?: AnySelection },
) => Promise<unknown>;

/** `Operations` is the type that is generated along with the surface's schema. */
export function createClient<Operations>(surface: Surface, sender: Sender): Operations & Base {
  const { schema } = surface;
  const methods: Record<string, Method> = {};
  for (const root of ['Query', 'Mutation'] as const) {
    for (const [name, field] of Object.entries(schema[root])) {
      // A mutation without a row is not sent twice.
      const repeatable = root === 'Query' || surface.mutations[name] === true;
      methods[name] = async (variables, { select, ...options } = {}) => {
        const selection = select ?? surface.defaults[namedType(field.type)] ?? {};
        const sent = buildDocument(schema, root, name, variables, selection);
        const received = await sender.send(sent, { repeatable, takesPart: false }, options);
        const isLookup = root === 'Query' && !field.type.startsWith('[');
        return resultOf(schema, name, field, selection, received, isLookup);
      };
    }
  }
  const base: Base = {
    request: (document, variables, options) => request(sender, document, variables, options),
    get limits() {
      return sender.limits();
    },
  };
  // Cast: the loop above has made what the generated type lists, from the same schema.
  return Object.defineProperties(methods, Object.getOwnPropertyDescriptors(base)) as Operations &
    Base;
}

/** The value of the only root field. Throws the first error, unless a look-up found nothing. */
function resultOf(
  schema: Schema,
  name: string,
  field: Field,
  selection: AnySelection,
  { data, errors, requestId }: Received,
  isLookup: boolean,
): unknown {
  const value = data[name] ?? null;
  const failure = errors.find((error) => !isLookup || error.code !== 'MEMBER_NOT_FOUND');
  if (failure !== undefined) throw failure;
  if (value === null && isLookup) return null;
  const wrong = misfit(schema, { ...field, type: `${field.type}!` }, selection, value, name);
  if (wrong === undefined) return value;
  const message = `the response does not fit the schema at ${wrong}`;
  throw callError('UNEXPECTED_RESPONSE', message, { requestId });
}

async function request<Data, Variables>(
  sender: Sender,
  document: Document<Data, Variables>,
  variables: Variables | undefined,
  { repeatable, operationName, ...options }: RequestOptions = {},
): Promise<RequestResult<Data>> {
  const query = document.toString();
  const sent = { query, variables: variables ?? {}, operationName };
  // The word is in every document with a mutation. One that only mentions it is not sent again.
  const isRead = !/\bmutation\b/.test(query);
  const kind = { repeatable: repeatable ?? isRead, takesPart: true };
  const { data, ...rest } = await sender.send(sent, kind, options);
  // Cast: the caller says what the document returns.
  return { data: data as Data, ...rest };
}
