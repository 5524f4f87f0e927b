// A browser without scripts, for tests: it keeps cookies, follows redirects and sends forms.

type Cookie = { origin: string; name: string; value: string; path: string };

/** Where a visit ended. */
export type Visited = { url: string; status: number; html: string };

export type Visitor = ReturnType<typeof createVisitor>;

/**
 * It stops before it leaves for an origin that `stopAt` says. `dial` is called before each request,
 * and resolves with the URL to send it to, in place of the one that it is for.
 */
export function createVisitor(
  stopAt: (url: string) => boolean = () => false,
  dial: (url: URL) => URL | Promise<URL> = (url) => url,
) {
  let cookies: Cookie[] = [];

  function keep(url: URL, lines: readonly string[]): void {
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const path = /; *path=([^;]*)/i.exec(line)?.[1] ?? '/';
      const isSame = (one: Cookie) =>
        one.origin === url.origin && one.name === name && one.path === path;
      cookies = cookies.filter((one) => !isSame(one));
      if (!/expires=Thu, 01 Jan 1970|max-age=0/i.test(line))
        cookies.push({ origin: url.origin, name, value, path });
    }
  }

  async function visit(url: string, form?: URLSearchParams): Promise<Visited> {
    if (stopAt(url)) return { url, status: 0, html: '' };
    const to = new URL(url);
    const sent = cookies.filter(
      ({ origin, path }) =>
        origin === to.origin &&
        (to.pathname === path || to.pathname.startsWith(path.replace(/\/?$/, '/'))),
    );
    const response = await fetch(await dial(to), {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-site': form === undefined ? 'none' : 'same-origin',
        cookie: sent.map(({ name, value }) => `${name}=${value}`).join('; '),
      },
      ...(form && { body: form }),
    });
    keep(to, response.headers.getSetCookie());
    const location = response.headers.get('location');
    const html = await response.text();
    return location === null
      ? { url, status: response.status, html }
      : visit(new URL(location, to).href);
  }

  return {
    visit: (url: string) => visit(url),
    /** Sends a form that no page has. */
    post: (url: string, form: URLSearchParams) => visit(url, form),
    /** As a header would have them. */
    cookies: () => cookies.map(({ name, value }) => `${name}=${value}`),
    /** Fills the form with the fields in, and presses the button with this name, if any. */
    async send(page: Visited, fields: Record<string, string>, button?: string): Promise<Visited> {
      const forms = page.html.split('<form').slice(1);
      const names = [...Object.keys(fields), ...(button === undefined ? [] : [button])];
      const found = forms.find((one) => names.every((name) => one.includes(`name="${name}"`)));
      if (found === undefined) throw new Error(`no form has ${names} at ${page.url}: ${page.html}`);
      const action = /action="([^"]*)"/.exec(found)?.[1] ?? page.url;
      const form = new URLSearchParams(fields);
      for (const [, name = '', value = ''] of found.matchAll(
        /<input type="hidden" name="([^"]*)" value="([^"]*)"/g,
      ))
        form.set(name, value);
      const pressed = button && new RegExp(`name="${button}" value="([^"]*)"`).exec(found)?.[1];
      if (button !== undefined) form.set(button, pressed ?? 'yes');
      return visit(new URL(action, page.url).href, form);
    },
  };
}
