// What the verification of every store shares: how it reports.

export type Inspection = {
  /** Called for each fault. `record` names the record in words, without an address or a name. */
  report(record: string, problem: string): void;
  /** Whether there is a partner with this ID, now. */
  hasPartner(partnerId: string): Promise<boolean>;
};

/** In place of a value that cannot be decoded. */
export const UNREADABLE = Symbol('unreadable');
