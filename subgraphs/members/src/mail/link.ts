// The links that mail carries: made from settings and partners' rows alone, never from what a request says about its host.

/** A page's address with the token in its query. The page's own query and fragment stay as they are, but for a `token` of its own. */
export function linkTo(page: string, token: string): string {
  const url = new URL(page);
  const own = url.search.split(/[?&]/).filter((part) => part !== '' && !/^token(=|$)/.test(part));
  url.search = [...own, `token=${token}`].join('&');
  return url.href;
}

/** This service's own page for tokens. `baseAddress` has no slash at its end. */
export function signInPage(baseAddress: string): string {
  return `${baseAddress}/sign-in`;
}
