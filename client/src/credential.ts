// Keys and tokens: the headers that carry them, and where they may be used.

/** A value, or a function that is called for each attempt, for values that change. */
export type Credential = string | (() => string | Promise<string>);

/** The headers of a request, and the secret in them, which no error may contain. */
export type Authorization = { headers: Record<string, string>; secret: string };

const KEY = /^pk_(?:test|live)_[0-9A-Za-z]{36}$/;
const TOKEN = /^[\w-]{1,4000}\.[\w-]{1,8000}\.[\w-]{1,4000}$/;

/** Rejects with a TypeError that does not repeat the value. */
export async function authorizeWithKey(key: Credential): Promise<Authorization> {
  const secret = await secretOf(key);
  if (!KEY.test(secret)) throw new TypeError('key must be a partner key: pk_test_… or pk_live_…');
  return { headers: { 'x-partner-api-key': secret }, secret };
}

/** Rejects with a TypeError that does not repeat the value. */
export async function authorizeWithToken(token: Credential): Promise<Authorization> {
  const secret = await secretOf(token);
  if (!TOKEN.test(secret))
    throw new TypeError('token must be an ID token: three parts separated by dots');
  return { headers: { authorization: `Bearer ${secret}` }, secret };
}

async function secretOf(credential: Credential): Promise<string> {
  const value: unknown = typeof credential === 'function' ? await credential() : credential;
  return typeof value === 'string' ? value : '';
}

/** Throws in a page or a worker of a browser, where anyone can read the key. */
export function refuseBrowser(): void {
  // Cast: the types of neither Node nor the browser have all of these.
  const scope = globalThis as {
    window?: { document?: unknown };
    importScripts?: unknown;
    process?: { versions?: { node?: unknown } };
  };
  if (scope.process?.versions?.node !== undefined) return;
  if (scope.window?.document !== undefined || typeof scope.importScripts === 'function')
    throw new Error(
      'a partner key must not be in a browser, where anyone can read it: call the service ' +
        'from your server, or use createMemberClient with the ID token of the member',
    );
}
