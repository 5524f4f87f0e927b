// The fields of log lines, one row each.

/**
 * Every field that a line may have. A new one must never hold an email address, a name, a key, a
 * token or a variable.
 */
export const LOG_FIELDS = {
  requestId: 'Identifies the request, as `x-request-id` does in the response.',
  requestIds: 'The other requests whose operations came in the same request to a subgraph.',
  partner: 'The ID of the partner that called, or that the token was issued for.',
  keyId: 'The ID of the key that the partner used.',
  surface: '`partner` or `member`.',
  operation: 'The name of the operation, cut to 64 characters.',
  operationHash:
    'The same for documents that differ only in literals, descriptions, whitespace and comments.',
  rootFields: "The operation's root fields, by their names in the schema.",
  deprecated: 'The first 10 deprecated parts of the schema that the document uses.',
  codes: 'Every error code of the response, once.',
  bytes: 'The length of the body that was sent.',
  path: 'The path of a web page, without what follows it.',
  method: 'The HTTP method.',
  status: 'The HTTP status of the response.',
  code: 'The error code of the response, or the code of a system error.',
  durationMs: 'How long it took, up to the last byte handed over to the socket.',
  cost: 'What the request took from the budget; 1 without a valid credential.',
  subgraph: 'The name of a subgraph.',
  version: 'The version of a graph.',
  field: 'The fields that were asked of a subgraph, by their names in its schema.',
  store: 'The name of a store.',
  engine:
    'The engine of the stores, `lmdb` or `mongodb`; or the database that the line is about, such as `redis`.',
  database: 'The hosts and the database of the stores.',
  folder: 'The folder of the embedded stores.',
  redis: 'The hosts of Redis, or `none`.',
  commit: 'The commit that the process was built from.',
  node: 'A node of a Redis Cluster: its host and port.',
  environment: '`sandbox` or `production`.',
  host: 'The address that the process listens on.',
  port: 'The port for clients.',
  adminPort: 'The port for health and metrics.',
  pid: 'The process that writes the line.',
  clientAddress:
    'The client address of a request whose credential is missing or refused, or of pages that get 429: its /24 (IPv4) or /48 (IPv6), unless `LOG_CLIENT_ADDRESS` is `full`. Also, always masked, the sender of an `x-forwarded-for` that is ignored.',
  webhookId: 'The ID of an endpoint for webhooks.',
  reason: 'Why it happened, in fixed words.',
  count: 'How many.',
} as const;

/**
 * `err` is logged as its class, code and stack frames. Its message is left out, since drivers quote
 * data in theirs.
 */
export type LogFields = Partial<
  Record<keyof typeof LOG_FIELDS, string | number | boolean | readonly string[] | undefined>
> & { err?: unknown };

export type Write = (fields: LogFields, message: string) => void;
