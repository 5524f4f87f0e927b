// What a section of the console is: what it shows to a partner's staff, and what its forms do.
import type { Staff } from '@partner-loyalty/gateway/identity/staff.ts';
import type { Html } from '@partner-loyalty/runtime/pages/html.ts';

export type ConsoleVisit = {
  /** The staff of the partner that the page is about, and of no other. */
  staff: Staff;
  query: URLSearchParams;
  requestId: string;
  /** A form of the section that a ConsoleError has rejected, to be shown with what was typed. */
  rejected?: URLSearchParams | undefined;
  /** What is wrong with a field of it. */
  problem?: ConsoleError | undefined;
  /** Names what a form made or changed, for the audit log. */
  changed(id: string): void;
};

export function isAdmin({ staff }: ConsoleVisit): boolean {
  return staff.role === 'admin';
}

/** What a page says above its content. */
export type Notice = { text: string; isProblem: boolean };

/**
 * Does what a form asks for. Resolves with what is shown once, such as a new secret, or with a
 * notice on the page of the form; undefined leads back to the section. Rejects with a ConsoleError
 * whose message is for the reader.
 */
export type Action = (
  visit: ConsoleVisit,
  form: URLSearchParams,
) => Promise<Html | Notice | undefined>;

export type Section = {
  /** Its path below /console/, such as `keys`. */
  name: string;
  title: string;
  /** A sentence for the overview. */
  about: string;
  /** Its content below the heading. Changes nothing. Forms post to the section's own path. */
  show(visit: ConsoleVisit): Promise<Html>;
  /**
   * The actions by the value of a form's button, whose name is `action`. They are called only for
   * admins, only from pages of this origin, and written to the audit log.
   */
  actions?: Readonly<Record<string, Action>>;
  /** What the section says after an action that led back to it. */
  done?: Readonly<Record<string, string>>;
};

/** The action of a form's button. Throws a ConsoleError if the section has none of that name. */
export function actionOf({ actions = {} }: Section, name: string): Action {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) throw new ConsoleError('Use one of the buttons on this page.');
  return action;
}

/**
 * Something that the reader can put right. The message is shown at the field of the form, or above
 * the section if it is not about one.
 */
export class ConsoleError extends Error {
  readonly field: string | undefined;

  constructor(message: string, field?: string) {
    super(message);
    this.field = field;
  }
}

/** There is nothing with the ID of a form, or it is another partner's. The status is 404. */
export class NotFoundError extends ConsoleError {}
