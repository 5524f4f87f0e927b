// Follows the schema of a subgraph, in a file or in the running subgraph.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { noticing } from '@partner-loyalty/runtime/observe/log.ts';
import { createMetrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { createHttpTransport } from '@partner-loyalty/runtime/transport/client.ts';
import { oneSecret } from '@partner-loyalty/runtime/transport/secrets.ts';
import { runningSdl } from '../publish/index.ts';
import { MAX_SCHEMA_BYTES } from '../request.ts';

/** Where the schema is. `read` rejects with a line that says why there is none. */
type SchemaSource = {
  /** Names the schema in faults. */
  place: string;
  read(): Promise<string>;
  close(): Promise<void>;
};

export function schemaFile(file: string): SchemaSource {
  return {
    place: file,
    async read() {
      const bytes = await readFile(file);
      if (bytes.length > MAX_SCHEMA_BYTES) throw new Error(`${file}: larger than 4 MiB`);
      return bytes.toString();
    },
    async close() {},
  };
}

/** Asks the subgraph, with requests that its secret signs. */
export function runningSchema(at: { name: string; url: string; secret: string }): SchemaSource {
  let reason = '';
  const log = noticing((text) => {
    reason = text;
  });
  const secrets = oneSecret(at.secret);
  const options = { secrets, batching: false, codes: [], log, metrics: createMetrics() };
  const transport = createHttpTransport({ ...at, ...options });
  return {
    place: `the schema of ${at.name}`,
    async read() {
      const sdl = await runningSdl(transport, `dev-${randomUUID()}`);
      if (sdl !== undefined) return sdl;
      throw new Error(`${at.name} at ${at.url} does not answer {_service{sdl}} (${reason})`);
    },
    close: transport.close,
  };
}

/**
 * Returns a function that passes the schema on if it differs from the last one, and reports why
 * there is none, once for each reason.
 */
export function createFollower(
  { read }: Pick<SchemaSource, 'read'>,
  serve: (sdl: string) => Promise<void>,
  report: (fault: string) => void,
): () => Promise<void> {
  let last: string | undefined;
  let fault: string | undefined;

  return async () => {
    try {
      const sdl = await read();
      fault = undefined;
      if (sdl === last) return;
      last = sdl;
      await serve(sdl);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (why !== fault) report(why);
      fault = why;
    }
  };
}
