// What was typed into the editors, kept in this tab for when the page is loaded again.

export type Draft = { query: string; variables: string };

const STORED = 'draft';

/** Keeps a draft in place of the one before, or forgets it. */
export function keepDraft(draft: Draft | undefined): void {
  try {
    if (draft === undefined) sessionStorage.removeItem(STORED);
    else sessionStorage.setItem(STORED, JSON.stringify(draft));
  } catch {
    // It is larger than browsers store. Nothing but the reload suffers.
    sessionStorage.removeItem(STORED);
  }
}

/** In characters, behind the #. Longer links are cut by what people send them with. */
const MOST_LINKED = 8_000;
/** Twice as many within each other would exhaust the stack of the editor's parser. */
const MOST_BRACKETS = 500;

/** A link that opens the explorer with a draft and its menus, of which browsers send nothing. */
export function linkTo(draft: Draft, menus: Record<string, string> = {}): string | 'too long' {
  const fragment = new URLSearchParams({ ...draft, ...menus }).toString();
  const brackets = draft.query.split(/[{[(]/).length - 1;
  if (fragment.length > MOST_LINKED || brackets > MOST_BRACKETS) return 'too long';
  return `${location.origin}${location.pathname}#${fragment}`;
}

/** The operation of a link, behind the #. It leaves the address, since it may be edited. */
export function linkedDraft(): (Draft & { menus: URLSearchParams }) | 'too long' | undefined {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const query = fragment.get('query');
  if (query === null) return undefined;
  history.replaceState(null, '', location.pathname);
  const draft = { query, variables: fragment.get('variables') ?? '' };
  return linkTo(draft) === 'too long' ? 'too long' : { ...draft, menus: fragment };
}

export function keptDraft(): Draft | undefined {
  const kept = sessionStorage.getItem(STORED);
  // Nobody else stores anything there.
  return kept === null ? undefined : JSON.parse(kept);
}
