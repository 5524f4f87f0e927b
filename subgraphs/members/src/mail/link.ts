// The links in mail: never made from the host that a request names.

/**
 * A page's address with the token in its query. Keeps the page's own query and fragment, except a
 * `token` parameter of its own.
 */
export function linkTo(page: string, token: string): string {
  const url = new URL(page);
  const kept = url.search.split(/[?&]/).filter((part) => part !== '' && !/^token(=|$)/.test(part));
  url.search = [...kept, `token=${token}`].join('&');
  return url.href;
}

/** This service's own pages for tokens. `baseAddress` has no slash at the end. */
export function signInPage(baseAddress: string): string {
  return `${baseAddress}/sign-in`;
}

export function invitationPage(baseAddress: string): string {
  return `${baseAddress}/invitation`;
}
