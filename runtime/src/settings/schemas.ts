// Schemas for the values of settings. Each turns the text of a variable into its value.
import * as z from 'zod';

/** An integer within limits, both included. */
export function integer(least: number, most: number) {
  const error = `must be an integer from ${least} to ${most}`;
  return z
    .string()
    .regex(/^\d{1,10}$/, error)
    .transform(Number)
    .pipe(z.number().min(least, error).max(most, error));
}

/** A string that matches a pattern. `form` completes "must". */
export function matching(pattern: RegExp, form: string) {
  return z.string().regex(pattern, `must ${form}`);
}

/** One of the given words. */
export function oneOf<const Words extends readonly string[]>(...words: Words) {
  return z.enum(words, `must be one of ${words.join(', ')}`);
}

/** A list whose items are separated by commas or spaces. */
export function list(item: z.ZodType<string, string>) {
  return z
    .string()
    .transform((text) => text.split(/[\s,]+/).filter((each) => each !== ''))
    .pipe(z.array(item));
}

/** A connection URL, which may hold a password; only its beginning is checked. */
export function connection(...schemes: string[]) {
  const beginnings = schemes.map((scheme) => `${scheme}://`);
  return z
    .string()
    .refine(
      (text) =>
        beginnings.some(
          (each) => text.startsWith(each) && /^[^/?\s]/.test(text.slice(each.length)),
        ),
      { error: `must be a URL that starts with ${beginnings.join(' or ')}` },
    );
}

/** The URL of a Redis server, or the hosts of a cluster. */
export const redisUrl = connection('redis', 'rediss', 'redis+cluster', 'rediss+cluster').refine(
  (text) => !CLUSTER.test(text) || CLUSTER_HOSTS.test(text),
  'must list the nodes of a cluster as host:port,host:port, without a path',
);
const CLUSTER = /^rediss?\+cluster:/;
const CLUSTER_HOSTS = /^rediss?\+cluster:\/\/([^@/]*@)?[^@/,\s]+(,[^@/,\s]+)*\/?$/;

/** An http or https URL without credentials. */
export const webUrl = z
  .url({
    protocol: /^https?$/,
    abort: true,
    error: 'must be a URL that starts with http:// or https://',
  })
  .refine((text) => new URL(text).username === '' && new URL(text).password === '', {
    error: 'must not contain a user name or a password',
    abort: true,
  });

/** The URL that paths are appended to: without query and fragment, and without a final slash. */
export const baseUrl = webUrl
  .transform((text) => new URL(text))
  .refine(({ search, hash }) => search === '' && hash === '', 'must not have a query or a fragment')
  .transform(({ href }) => withoutSlashes(href));

const MAX_URL = 2_048;
const TOO_LONG = `must have at most ${MAX_URL} characters`;

/** The URL of a subgraph's endpoint; without a path, it is /graphql. No query is signed. */
export const subgraphUrl = z
  .string()
  .max(MAX_URL, { error: TOO_LONG, abort: true })
  .pipe(webUrl)
  .transform((text) => new URL(text))
  .refine(({ search, hash }) => search === '' && hash === '', 'must not have a query or a fragment')
  .transform(({ href, origin, pathname }) => (pathname === '/' ? `${origin}/graphql` : href))
  // Percent-encoding may have made it longer.
  .pipe(z.string().max(MAX_URL, TOO_LONG));

/** What hybrid apps send; the URL standard knows no origin of theirs. */
const HYBRID_ORIGIN = /^(capacitor|ionic|tauri):\/\/[a-z0-9-]+(\.[a-z0-9-]+)*$/;

/** The origin of a web page or of a hybrid app, exactly as browsers send it. */
export const browserOrigin = z
  .string()
  .refine(
    (text) =>
      HYBRID_ORIGIN.test(text) ||
      (/^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text),
    'must be a list of origins as browsers send them, such as https://shop.example or capacitor://localhost',
  );

/** A CIDR range. A single address is a range of one. */
export const cidrRange = z.union(
  [
    z.cidrv4(),
    z.cidrv6(),
    z.ipv4().transform((address) => `${address}/32`),
    z.ipv6().transform((address) => `${address}/128`),
  ],
  'must be a list of addresses or ranges, such as 10.0.0.0/8, fd00::/8',
);

/** A host as URLs have it, with or without a port; `*.suffix`; or a CIDR range. */
export const hostOrRange = z.union(
  [
    cidrRange,
    z
      .string()
      .regex(/^((\*\.)?[\w-]+(\.[\w-]+)*|\[[\da-f:.]+\])(:\d{1,5})?$/i)
      .transform((host) => host.toLowerCase()),
  ],
  'must be a list of hosts or ranges, such as offers.example, *.internal, localhost:4021, 10.0.0.0/8',
);

function withoutSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end -= 1;
  return url.slice(0, end);
}
