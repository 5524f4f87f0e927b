// Lines that an outage would write for each request: one a second for each subject.
import type { LogFields, Write } from './fields.ts';

const INTERVAL_MS = 1_000;
/** Subjects come from the code and the settings, not from callers. */
const MAX_SUBJECTS = 1_000;
/** The fields that distinguish one outage from another. */
const SUBJECT = ['subgraph', 'store', 'engine', 'reason', 'code', 'status'] as const;

type Repetition = { message: string; fields: LogFields; count: number };

/**
 * Returns a function that writes the first line of each message and subject at once, then at most
 * one a second. `count` says how many it stands for, and its other fields are those of the first of
 * them. Counts what `fields.count` says, else 1.
 */
export function createRepeated(write: Write): { write: Write; flush(): void } {
  const recent = new Map<string, Repetition>();
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    for (const { message, fields, count } of recent.values())
      if (count > 0) write({ ...fields, count }, message);
  }

  /** What was quiet for a whole interval is written at once again when it recurs. */
  function beginInterval(): void {
    flush();
    for (const [subject, repetition] of recent) {
      if (repetition.count === 0) recent.delete(subject);
      repetition.count = 0;
    }
    if (recent.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    write(fields, message) {
      const count = typeof fields.count === 'number' ? fields.count : 1;
      let subject = message;
      for (const name of SUBJECT) subject += `\n${fields[name]}`;
      const known = recent.get(subject);
      if (known === undefined) {
        write({ ...fields, count }, message);
        if (recent.size >= MAX_SUBJECTS) return;
        recent.set(subject, { message, fields, count: 0 });
        timer ??= setInterval(beginInterval, INTERVAL_MS).unref();
        return;
      }
      if (known.count === 0) known.fields = fields;
      known.count += count;
    },
    flush() {
      flush();
      for (const repetition of recent.values()) repetition.count = 0;
    },
  };
}
