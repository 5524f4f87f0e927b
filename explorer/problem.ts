// Shows problems: one about the key or the run below the key, one about the variables beside them.
import { byId } from './dom.ts';

type About = 'key' | 'run';

let shown: About | undefined;

/** Shows a problem, or takes away whichever is shown if there is none. */
export function showProblem(about: About, text: string | undefined): void {
  shown = text === undefined ? undefined : about;
  setNotice('problem', text);
}

export function showVariablesProblem(text: string | undefined): void {
  setNotice('variables-problem', text);
}

/** Takes a problem away, because what it is about has changed. */
export function clearProblem(about: About): void {
  if (shown === about) showProblem(about, undefined);
}

function setNotice(id: string, text: string | undefined): void {
  const notice = byId(id, HTMLElement);
  notice.textContent = text ?? '';
  notice.hidden = text === undefined;
  if (text !== undefined) notice.scrollIntoView({ block: 'nearest' });
}
