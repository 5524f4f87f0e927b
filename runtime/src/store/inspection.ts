// What the verification of every store shares: how it reports, and whether a record has its shape.
import type * as z from 'zod';

export type Inspection = {
  /** Called for each fault. `record` names the record in words, without an address or a name. */
  report(record: string, problem: string): void;
  /** Whether there is a partner with this ID, now. */
  hasPartner(partnerId: string): Promise<boolean>;
};

/** In place of a value that cannot be decoded. */
export const UNREADABLE = Symbol('unreadable');

/** Whether a record has a shape. Calls `report` for each field that is wrong. */
export function hasShape(
  shape: z.ZodType,
  record: unknown,
  report: (problem: string) => void,
): boolean {
  const { error } = shape.safeParse(record);
  for (const { path } of error?.issues ?? [])
    report(path.length === 0 ? 'the record has no fields' : `${path.join('.')} is not valid`);
  return error === undefined;
}
