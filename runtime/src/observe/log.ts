// The log: JSON lines on stdout, whose fields come from one list and hold nothing personal.
import { types } from 'node:util';
import pino from 'pino';
import type { Settings } from '../settings/table.ts';
import { createOutput } from './output.ts';
import { withoutSecrets } from './secrets.ts';

/**
 * Every field that a line may have. A new one must never hold an address, a name, a key, a token
 * or a variable.
 */
export const LOG_FIELDS = {
  requestId: 'Identifies the request, as `x-request-id` does in the response.',
  method: 'The HTTP method.',
  status: 'The HTTP status of the response.',
  code: 'The error code of the response, or the code of a system error.',
  durationMs: 'How long it took.',
  surface: '`partner` or `member`.',
  cost: 'What the request took from the budget.',
  subgraph: 'The name of a subgraph.',
  version: 'The version of a graph.',
  field: 'The fields that were asked of a subgraph, by their names in its schema.',
  store: 'The name of a store.',
  engine: 'The database that the line is about, such as `redis`.',
  node: 'A node of a Redis Cluster: its host and port.',
  environment: '`sandbox` or `production`.',
  host: 'The address that the process listens on.',
  port: 'The port for clients.',
  adminPort: 'The port for health and metrics.',
  worker: 'The number of a worker process.',
  pid: 'The process that writes the line.',
  reason: 'Why it happened, in fixed words.',
  count: 'How many.',
} as const;

/**
 * `err` is logged as its class, code and stack frames. Its message is left out, since drivers quote
 * data in theirs.
 */
export type LogFields = Partial<
  Record<keyof typeof LOG_FIELDS, string | number | boolean | undefined>
> & { err?: unknown };

type Write = (fields: LogFields, message: string) => void;

export type Log = {
  debug: Write;
  info: Write;
  warn: Write;
  error: Write;
  fatal: Write;
  /** Writes what is buffered before it returns. */
  flush(): void;
};

/**
 * Logs lines of `level` and above. Lines are buffered for at most a second, and written at once
 * when the process exits or logs something fatal.
 */
export function createLog(level: Settings['logLevel']): Log {
  if (level === 'silent')
    return {
      debug: ignore,
      info: ignore,
      warn: ignore,
      error: ignore,
      fatal: ignore,
      flush: ignore,
    };
  const stdout = createOutput(1);
  const logger = pino(
    {
      level,
      base: { pid: process.pid },
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    // Callers choose their request IDs, and some of them paste a secret there.
    { write: (line: string) => stdout.write(withoutSecrets(line)) },
  );
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    fatal: (fields, message) => {
      logger.fatal(fields, message);
      stdout.flush();
    },
    flush: stdout.flush,
  };
}

/** An error as it is logged: without its message, which is also cut out of its stack. */
export function describeError(error: unknown): object {
  if (!types.isNativeError(error) && !(error instanceof Error)) return { type: typeof error };
  const { name, message, stack = '', code, cause } = error as Error & { code?: unknown };
  const frames =
    (message === '' ? stack : stack.split(message).join('')).match(/^ {4}at .+$/gm) ?? [];
  return {
    type: name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    frames: frames.map((frame) => frame.trim()),
    ...(cause === undefined ? {} : { cause: describeError(cause) }),
  };
}

function ignore(): void {}
