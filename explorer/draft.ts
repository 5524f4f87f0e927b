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

/** The operation of a link, behind the #. It leaves the address, since it may be edited. */
export function linkedDraft(): Draft | undefined {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const query = fragment.get('query');
  if (query === null) return undefined;
  history.replaceState(null, '', location.pathname);
  return { query, variables: fragment.get('variables') ?? '' };
}

export function keptDraft(): Draft | undefined {
  const kept = sessionStorage.getItem(STORED);
  // Nobody else stores anything there.
  return kept === null ? undefined : JSON.parse(kept);
}
