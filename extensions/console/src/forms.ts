// The forms of the console's sections, which keep what was typed when they are rejected.
import { form } from '@partner-loyalty/runtime/pages/cards.ts';
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { ConsoleError, type ConsoleVisit } from './section.ts';
import { CONSOLE_PATH } from './signin.ts';

/** A form of a section, with a button whose value says what it does. */
export function actionForm(
  section: string,
  action: string,
  button: string,
  content: Html = html``,
  kind = '',
): Html {
  const sent = html`${content}
<button name="action" value="${action}">${button}</button>`;
  return form(`${CONSOLE_PATH}/${section}`, sent, kind);
}

/** What is done only after a second press: it opens first. */
export function confirmed(summary: string, content: Html, isOpen = false, kind = ''): Html {
  return html`<details class="${kind}"${isOpen ? html` open` : ''}><summary>${summary}</summary>
${content}</details>`;
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

export type Typed = ReturnType<typeof typedInto>;

/** What the fields of a form show: what was typed if it was rejected, or what they begin with. */
export function typedInto({ rejected, problem }: Partial<ConsoleVisit>, action: string) {
  const typed = rejected?.get('action') === action ? rejected : undefined;
  const isChosen = (name: string, value: string, isSet: boolean) =>
    typed === undefined ? isSet : typed.getAll(name).includes(value);
  const isWrong = (name: string) => typed !== undefined && problem?.field === name;
  return {
    isRejected: typed !== undefined,
    /** Says below a field what is wrong with it. */
    fault: (name: string) =>
      isWrong(name)
        ? html`<p class="fault" id="fault" role="alert">${problem?.message ?? ''}</p>`
        : '',
    /** The attributes of a field that is wrong: browsers scroll to it. */
    marked: (name: string) =>
      isWrong(name) ? html` aria-invalid="true" aria-errormessage="fault" autofocus` : '',
    value: (name: string, initial = '') => typed?.get(name) ?? initial,
    /** The attribute of a choice that is made. */
    checked: (name: string, value: string, isSet = false) =>
      isChosen(name, value, isSet) ? html` checked` : '',
    options: (name: string, all: readonly (readonly [string, string])[], initial: string) =>
      all.map(
        ([value, text]) =>
          html`<option value="${value}"${isChosen(name, value, value === initial) ? html` selected` : ''}>${text}</option>`,
      ),
  };
}

/** What a form has in a field, without space around it; an empty text if it has no such field. */
export function field(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').trim();
}

/** Reads a time. Browsers send a local one without its zone, which is said to be UTC. */
export function timeIn(given: string): number {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z?$/.test(given);
  const time = isTime ? Date.parse(given.replace(/Z?$/, 'Z')) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new ConsoleError('Give a date and a time in UTC, such as 2031-05-17T10:30.');
}
