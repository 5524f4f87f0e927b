// The log: JSON lines on stdout, with fields of one list, none of which may hold an address, a name, a key, a token or a variable.

/** Every field a line may have. Before adding one: it must never hold an address, a name, a key, a token or a variable. */
export const LOG_FIELDS = {
  requestId: 'The id of the request, as in its answer.',
  method: 'The HTTP method.',
  path: 'The path, where it is one of ours.',
  status: 'The HTTP status of the answer.',
  code: 'The error code of the answer, or the code of a system error.',
  durationMs: 'How long it took.',
  principal: 'The id of the key or of the member, never the key or the token itself.',
  surface: '`partner` or `member`.',
  operation: '`query` or `mutation`.',
  cost: 'What the request took from the budget.',
  subgraph: "A subgraph's name.",
  store: "A store's name.",
  engine: '`lmdb`, `mongodb`, `redis` or `memory`.',
  environment: '`sandbox` or `production`.',
  host: 'Where the process listens.',
  port: 'The port clients use.',
  adminPort: 'The port of health and metrics.',
  worker: "A worker process's number.",
  pid: 'A process id.',
  signal: 'The signal that ended a process.',
  reason: 'Why, in fixed words.',
  count: 'How many.',
  version: 'The version of Node.',
} as const;

/** `err` is logged as its class, code and stack frames; its message is left out because drivers quote data in theirs. */
export type LogFields = Partial<Record<keyof typeof LOG_FIELDS, string | number | boolean | undefined>> & { err?: unknown };

type Write = (fields: LogFields, message: string) => void;

export type Log = {
  debug: Write;
  info: Write;
  warn: Write;
  error: Write;
  fatal: Write;
  /** Writes out what is buffered, before it returns. */
  flush(): void;
};

/** A log of one level of pino's. Lines are buffered for at most a second and written out when the process ends. */
export function createLog(_level: string): Log {
  throw new Error('not written yet');
}
