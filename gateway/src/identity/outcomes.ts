// What forms led to, kept for a minute: a form that a browser sends twice leads where it led first.
import { setTimeout as pause } from 'node:timers/promises';
import type { HttpResponse } from '@partner-loyalty/runtime/http/response.ts';
import type { Table, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import { createVault } from '@partner-loyalty/runtime/store/vault.ts';
import { LRUCache } from 'lru-cache';

const KEPT_MS = 60_000;
/** How long a process may take for a form before another process may handle it. */
const BUSY_MS = 5_000;
const POLL_MS = 100;
/** How many a process keeps in a minute: of a client; of all who are signed in, and all others. */
const MAX_OF_CLIENT = 120;
const MAX_OF_ALL = 5_000;
/** The longest response that is kept, in characters. */
const MAX_LENGTH = 256 * 1024;

/** `sealed` is the response, once there is one. Times are in milliseconds since 1970. */
export type Outcome = { formId: string; expiresAt: number; busyUntil: number; sealed?: string };

export const OUTCOMES: TableDefinition<Outcome> = {
  name: 'formoutcomes',
  id: 'formId',
  orders: ['expiresAt'],
};

/**
 * The same if a browser sends a form twice. `key` is 32 bytes in Base64, which no store has.
 * `client` is who is signed in, or the client address.
 */
export type SentForm = { formId: string; key: string; client: string; isSignedIn: boolean };

/** `isAgain` says that a process began, and ended or was too slow. */
type Handle = (isAgain: boolean) => Promise<HttpResponse>;

/** Returns a function that resolves with what a form leads to, or has led to before. */
export function createOnce(open: () => Promise<Table<Outcome>>) {
  const counts = new LRUCache<string, number>({ max: 20_000, ttl: KEPT_MS });

  function isWithin(most: number, subject: string): boolean {
    const count = (counts.get(subject) ?? 0) + 1;
    counts.set(subject, count, { noUpdateTTL: true });
    return count <= most;
  }

  /** Waits while another one handles the form. */
  async function claim(formId: string) {
    const outcomes = await open();
    await outcomes.removeUntil('expiresAt', Date.now());
    for (;;) {
      const now = Date.now();
      const expiresAt = now + KEPT_MS;
      let first: Outcome | undefined;
      const claimed = await outcomes.update(formId, (before) => {
        first = before;
        return before === undefined || (before.sealed === undefined && before.busyUntil <= now)
          ? { formId, expiresAt, busyUntil: now + BUSY_MS }
          : before;
      });
      if (claimed || first?.sealed)
        return { isAgain: first !== undefined, sealed: first?.sealed, expiresAt };
      await pause(POLL_MS);
    }
  }

  /**
   * What failed, or is to be corrected, can be sent again, unless another process has claimed the
   * form since. The first outcome stays. `claimed` is when the claim was to expire.
   */
  async function keep(formId: string, sealed: string, claimed: number | undefined): Promise<void> {
    const expiresAt = Date.now() + KEPT_MS;
    await (await open()).update(formId, (before) => {
      if (before?.sealed !== undefined) return before;
      if (sealed === '' || sealed.length > MAX_LENGTH)
        return before?.expiresAt === claimed ? undefined : before;
      return { formId, expiresAt, busyUntil: 0, sealed };
    });
  }

  async function prolong(formId: string): Promise<void> {
    await (await open()).update(formId, (before) =>
      before === undefined || before.sealed !== undefined
        ? before
        : { ...before, busyUntil: Date.now() + BUSY_MS },
    );
  }

  return async (form: SentForm, handle: Handle): Promise<HttpResponse> => {
    const { formId, key, client, isSignedIn } = form;
    if (!isWithin(MAX_OF_CLIENT, client) || !isWithin(MAX_OF_ALL, `all ${isSignedIn}`))
      return handle(false);
    const vault = createVault(key);
    // Without the store, people still sign in.
    const before = await claim(formId).catch(() => undefined);
    if (before?.sealed !== undefined) return JSON.parse(await vault.unseal(before.sealed));
    let sealed = '';
    const prolonging = setInterval(() => void prolong(formId).catch(() => {}), BUSY_MS / 3);
    try {
      const response = await handle(before?.isAgain === true);
      if (response.status < 400) sealed = await vault.seal(JSON.stringify(response));
      return response;
    } finally {
      clearInterval(prolonging);
      await keep(formId, sealed, before?.expiresAt).catch(() => undefined);
    }
  };
}
