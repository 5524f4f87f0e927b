// The log: JSON lines on stdout, whose fields come from fields.ts and hold nothing personal.
import { types } from 'node:util';
import pino from 'pino';
import type { Settings } from '../settings/table.ts';
import type { LogFields, Write } from './fields.ts';
import { outputToStdout } from './output.ts';
import { createRepeated } from './repeated.ts';
import { withoutSecrets } from './secrets.ts';

export type Log = {
  debug: Write;
  info: Write;
  warn: Write;
  error: Write;
  fatal: Write;
  /**
   * Like `warn`, for what an outage makes happen again and again: at most one line a second for
   * each message, subgraph, store and reason, with a count. Of an `err` that is an outage, it says
   * why, without the stack.
   */
  outage: Write;
  /**
   * Like `info`, for what is refused again and again: at most one line a second for each message
   * and `clientAddress`, or known caller and code, with a count.
   */
  refused: Write;
  /** Like `info`, for the end of an outage: what was counted of it is written before. */
  recovered: Write;
  /**
   * Like `info`, with fields that jsonFields has written, or numbers and IDs without a key or token
   * in them: the line is not searched for any. `message` is a word that JSON does not escape. A
   * request's line takes 1.2 µs; with as many fields, pino takes 5.
   */
  infoJson(fields: string, message: string): void;
  /** Writes what is buffered before it returns. */
  flush(): void;
};

const PROGRESS_MS = 5_000;

/** Logs how far long work on a store has come, every 5 seconds. */
export function logProgress(log: Pick<Log, 'info'>, message: string) {
  let loggedAt = performance.now();
  return (store: string, records: number, total: number): void => {
    if (performance.now() - loggedAt < PROGRESS_MS) return;
    loggedAt = performance.now();
    log.info({ store, count: `${records} of ${total}` }, message);
  };
}

/**
 * Logs lines of `level` and above. Lines are buffered for at most a second, and written at once
 * when the process exits or logs something fatal.
 */
export function createLog(level: Settings['logLevel']): Log {
  const stdout = outputToStdout();
  const { pid } = process;
  const logger = pino(
    {
      level,
      base: { pid },
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    // Callers choose names, and some of them paste a secret there.
    { write: (line: string) => stdout.write(withoutSecrets(line)) },
  );
  const repeated = createRepeated((fields, message) => logger.warn(fields, message));
  const refused = createRepeated((fields, message) => logger.info(fields, message));
  const flush = () => {
    repeated.flush();
    refused.flush();
    stdout.flush();
  };
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    fatal: (fields, message) => {
      logger.fatal(fields, message);
      flush();
    },
    outage: repeated.write,
    refused: refused.write,
    recovered: (fields, message) => {
      repeated.flush();
      logger.info(fields, message);
    },
    infoJson: logger.isLevelEnabled('info')
      ? (fields, message) =>
          stdout.write(
            `{"level":"info","time":${Date.now()},"pid":${pid}${fields},"msg":"${message}"}\n`,
          )
      : ignore,
    flush,
  };
}

/**
 * Fields as infoJson takes them: JSON without braces, with a comma before each field, and without
 * keys and tokens. Most are made once and used for many lines, which a search of each line would
 * make a third more costly.
 */
export function jsonFields(fields: Omit<LogFields, 'err'>): string {
  const json = withoutSecrets(JSON.stringify(fields).slice(1, -1));
  return json === '' ? '' : `,${json}`;
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

/** A log that reports why a request failed. */
export function noticing(notice: (text: string) => void): Log {
  const write: Log['warn'] = ({ reason, status, code, err }, message) => {
    const cause = err instanceof Error ? err.message : undefined;
    // A status of 0 means that there was no response.
    const facts = [reason, code, status || undefined, cause].filter((fact) => fact !== undefined);
    notice(facts.length > 0 ? facts.join(', ') : message);
  };
  return { ...createLog('silent'), warn: write, error: write, fatal: write, outage: write };
}
