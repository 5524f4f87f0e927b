// Checks keys and tokens, and builds the headers that carry them.
import { callError } from './http/response.ts';

/** A value, or a function that is called for each attempt, for values that change. */
export type Credential = string | (() => string | Promise<string>);

/** The headers of a request, and the secret in them, which no error may contain. */
type Authorization = { headers: Record<string, string>; secret: string };

/** Rejects with UNAUTHENTICATED if a function gives a value that is no credential. */
export type Authorize = (requestId: string) => Promise<Authorization>;

type Kind = {
  form: RegExp;
  /** What is wrong with a value of another form. */
  fault: string;
  headers(secret: string): Record<string, string>;
};

/** A partner key. */
export const KEY: Kind = {
  form: /^pk_(?:test|live)_[0-9A-Za-z]{36}$/,
  fault: 'key must be a partner key: pk_test_… or pk_live_…',
  headers: (secret) => ({ 'x-partner-api-key': secret }),
};
/** An ID token. */
export const TOKEN: Kind = {
  form: /^[\w-]{1,4000}\.[\w-]{1,8000}\.[\w-]{1,4000}$/,
  fault: 'token must be an ID token: three parts separated by dots',
  headers: (secret) => ({ authorization: `Bearer ${secret}` }),
};

/** Throws a TypeError, which does not repeat the value, unless it is of the kind or a function. */
export function authorizeWith({ form, fault, headers }: Kind, credential: Credential): Authorize {
  const fits = (value: unknown) => typeof value === 'string' && form.test(value);
  if (typeof credential !== 'function' && !fits(credential)) throw new TypeError(fault);
  return async (requestId) => {
    const secret = typeof credential === 'function' ? await credential() : credential;
    if (!fits(secret)) throw callError('UNAUTHENTICATED', fault, { requestId });
    return { headers: headers(secret), secret };
  };
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
