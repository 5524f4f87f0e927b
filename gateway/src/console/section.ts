// What a section of the console is: what it shows to a partner's staff, and what its forms do.
import type { Staff } from '../identity/staff.ts';
import type { Html } from '../pages/html.ts';

export { STAFF_ROLES, type Staff, type StaffRole } from '../identity/staff.ts';

export type ConsoleVisit = {
  /** Of the partner that the page is about, and of no other. */
  staff: Staff;
  query: URLSearchParams;
  requestId: string;
  /** Names what a form made or changed, for the audit log. */
  changed(id: string): void;
};

export type Section = {
  /** Its path below /console/, such as `keys`. */
  name: string;
  title: string;
  /** A sentence for the overview. */
  about?: string;
  /** Its content below the heading. Changes nothing. Forms post to the section's own path. */
  show(visit: ConsoleVisit): Promise<Html>;
  /**
   * Does what a form of the section asks for; called for admins alone, from pages of this origin
   * alone, and written to the audit log with the value of the form's button, whose name is
   * `action`. Resolves with what is shown once, such as a new secret; undefined leads back to the
   * section. Rejects with a ConsoleError whose message is for the reader.
   */
  submit?(visit: ConsoleVisit, form: URLSearchParams): Promise<Html | undefined>;
};

/** Something that the reader can put right: the message is shown above the section. */
export class ConsoleError extends Error {}

/** There is nothing with the ID of a form, or it is another partner's. The status is 404. */
export class NotFoundError extends ConsoleError {}
