// Lines that would be written for each request, in an outage or a flood: one a second and subject.
import { isOutage, outageReason } from '../store/outage.ts';
import type { LogFields, Write } from './fields.ts';

const INTERVAL_MS = 1_000;
/** Callers choose addresses. Addresses beyond this number share a line for each message. */
const MAX_SUBJECTS = 1_000;
/** How many fields of the schema a line names. */
const MAX_NAMED = 20;
/** The fields that distinguish one outage, or one known caller's refusal, from another. */
const SUBJECT = ['subgraph', 'store', 'engine', 'reason', 'partner', 'keyId', 'codes'] as const;

type Repetition = {
  message: string;
  /** The fields of the first line that is not written yet. */
  fields: LogFields;
  /** The fields of the schema that all of them are about. */
  named: Set<unknown>;
  /** How many are not written yet. */
  count: number;
  /** Whether its first line was written in this interval. */
  isNew: boolean;
};

/**
 * Returns a function that writes the first line of each message and subject at once, then at most
 * one a second. `count` says how many it stands for, and `field` names the fields of all of them;
 * the rest is that of the first. Counts what `fields.count` says, else 1. Of an error that is an
 * outage, it writes the reason without the stack.
 */
export function createRepeated(write: Write): { write: Write; flush(): void } {
  const recent = new Map<string, Repetition>();
  let timer: NodeJS.Timeout | undefined;

  function writeCounted({ err, ...fields }: LogFields, count: number, message: string): void {
    if (err === undefined) write({ ...fields, count }, message);
    else if (isOutage(err)) write({ reason: outageReason(err), ...fields, count }, message);
    else write({ ...fields, count, err }, message);
  }

  function writeOne(repetition: Repetition): void {
    const { message, fields, count } = repetition;
    const field = [...repetition.named].join(', ');
    const all = field === '' ? fields : { ...fields, field };
    if (count > 0) writeCounted(all, count, message);
    repetition.count = 0;
    repetition.named.clear();
  }

  function beginInterval(): void {
    for (const [subject, repetition] of recent) {
      // What was quiet for a whole interval is written at once when it recurs.
      if (repetition.count === 0 && !repetition.isNew) recent.delete(subject);
      // Less than a second has passed since its first line.
      else if (repetition.isNew) repetition.isNew = false;
      else writeOne(repetition);
    }
    if (recent.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    write(given, message) {
      let fields = given;
      const count = typeof fields.count === 'number' ? fields.count : 1;
      let subject = subjectOf(fields, message);
      if (recent.size >= MAX_SUBJECTS && !recent.has(subject)) {
        subject = message;
        fields = { ...fields, clientAddress: undefined };
      }
      const known = recent.get(subject);
      if (known === undefined) {
        writeCounted(fields, count, message);
        recent.set(subject, { message, fields, named: new Set(), count: 0, isNew: true });
        timer ??= setInterval(beginInterval, INTERVAL_MS).unref();
        return;
      }
      if (known.count === 0) known.fields = fields;
      known.count += count;
      if (fields.field !== undefined && known.named.size < MAX_NAMED) known.named.add(fields.field);
    },
    flush() {
      for (const repetition of recent.values()) writeOne(repetition);
    },
  };
}

/** An address is one subject, whatever it sends. */
function subjectOf(fields: LogFields, message: string): string {
  const { clientAddress } = fields;
  const parts = clientAddress === undefined ? SUBJECT.map((name) => fields[name]) : [clientAddress];
  return [message, ...parts].join('\n');
}
