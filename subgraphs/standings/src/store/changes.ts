// Events as they are stored: a text for each change, which gets its positions without being parsed.
import {
  ERASED_FIELDS,
  EVENT_TYPES,
  type Event,
  type EventType,
  type NewEvent,
} from '../rules/event.ts';

type StoredChange = [id: string, occurredAt: number, ...events: StoredEvent[]];
/** What its type holds has the order of EVENT_TYPES; what is missing is null. */
type StoredEvent = [type: EventType, ...content: unknown[]];

/** Events of one partner and time as JSON. Their IDs follow from this one. */
export function encodeChange(id: string, events: readonly NewEvent[]): string {
  const stored: unknown[] = [id, events[0]?.occurredAt];
  for (const event of events) {
    const one: unknown[] = [event.type];
    // A plain loop, since spreading costs more here than JSON does.
    for (const field of EVENT_TYPES[event.type]) one.push(event[field]);
    stored.push(one);
  }
  return JSON.stringify(stored);
}

/** The events of a partner that changes have, one after the other with commas between. */
export function decodeChanges(partnerId: string, changes: string): Event[] {
  return parse(changes).flatMap(([changeId, occurredAt, ...events]) =>
    events.map(([type, ...content], index) => {
      const id = index === 0 ? changeId : `${changeId}-${index}`;
      const event: Record<string, unknown> = { id, type, partnerId, occurredAt };
      for (const [at, field] of EVENT_TYPES[type].entries())
        if (content[at] !== null) event[field] = content[at];
      return event as Event; // Cast: encodeChange has written its fields.
    }),
  );
}

/** Whether changes may name a member: found much faster than they are parsed. */
export function mayName(changes: string, memberId: string): boolean {
  return changes.includes(JSON.stringify(memberId));
}

/** Without what an erased member's events may not have. */
export function withoutIdsOf(memberId: string, changes: string): string {
  const erased = parse(changes).map(([id, occurredAt, ...events]) => [
    ...[id, occurredAt],
    ...events.map(([type, ...content]) => {
      const fields: readonly string[] = EVENT_TYPES[type];
      const isOwn = content[fields.indexOf('memberId')] === memberId;
      return [type, ...content.map((one, at) => (isOwn && isErased(fields[at]) ? null : one))];
    }),
  ]);
  return JSON.stringify(erased).slice(1, -1);
}

function isErased(field: string | undefined): boolean {
  return ERASED_FIELDS.some((one) => one === field);
}

function parse(changes: string): StoredChange[] {
  return JSON.parse(`[${changes}]`) as StoredChange[]; // Cast: encodeChange has written them.
}
