// Says why a process cannot start: in words for whoever starts it, as a log line in production.
import { createLog } from '../observe/log.ts';
import { withoutSecrets } from '../observe/secrets.ts';
import { readEnv, readSettings } from '../settings/settings.ts';
import type { ProcessName, Settings } from '../settings/table.ts';
import { outageOf, outageReason } from '../store/outage.ts';

/** The settings of this process. Ends it with 1 if they are wrong. */
export function settingsOrExit(name: ProcessName): Settings {
  try {
    return readSettings(readEnv(), name);
  } catch (error) {
    reportFailedStart(error);
    return process.exit(1);
  }
}

/**
 * An outage is always a line of the log. Everything else is text on stderr or, if NODE_ENV is
 * `production`, as in the images, one line of the log, which a collector of logs understands.
 */
export function reportFailedStart(error: unknown): void {
  // Whatever LOG_LEVEL is: without this line, nobody knows why the process has ended.
  const log = createLog('fatal');
  if (outageOf(error) === 'unavailable') {
    const reason = outageReason(error);
    log.fatal({ reason }, 'a store is unavailable: the process cannot start');
    return;
  }
  const why = describe(error);
  if (readEnv().NODE_ENV === 'production')
    log.fatal({ reason: inOneLine(why) }, 'the process cannot start');
  else process.stderr.write(`${withoutSecrets(why)}\n`);
}

/** Errors of MongoDB's driver, such as `Authentication failed.`, do not name MongoDB. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name.startsWith('Mongo') ? `MongoDB: ${error.message}` : error.message;
}

/** The lines of a text as one. */
export function inOneLine(text: string): string {
  return text.trim().replace(/\n\s*/g, '; ').replaceAll(':; ', ': ');
}
