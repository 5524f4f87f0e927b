// What the gateway knows of the built-in identity provider: keys, what ended, apps' origins.
import { fail } from '@partner-loyalty/runtime/errors.ts';
import type { EndedSubject } from '@partner-loyalty/runtime/signin/exchange.ts';
import type { JSONWebKeySet } from 'jose';
import type { Ask } from '../graph/exchange.ts';
import type { IssuedToken } from './idtoken.ts';
import { BUILT_IN, createJwks } from './jwks.ts';

export type OwnProvider = ReturnType<typeof createOwnProvider>;

// These fields are on no surface: only the service uses them.
const SIGNING_KEYS = '{ signingKeys }';
const APP_ORIGINS = '{ appOrigins }';
const ENDED_SUBJECTS =
  'query ($since: Float!) { endedSubjects(since: $since) { subject endedAt } }';

/**
 * `ask` reaches the subgraph that is the built-in identity provider. Every method rejects with an
 * ApiError if it is unavailable.
 */
export function createOwnProvider(ask: Ask) {
  const askAsService = async (query: string, requestId: string, variables = {}) =>
    (await ask({ query, variables, caller: { kind: 'service' }, requestId })).data;
  /** Cast: the subgraph's schema promises these lists. */
  const listOf = <Item>(found: unknown) =>
    Array.isArray(found) ? (found as Item[]) : fail('SERVICE_UNAVAILABLE');

  return {
    async signingKeys(): Promise<JSONWebKeySet> {
      const keys = (await askAsService(SIGNING_KEYS, 'signing-keys'))?.signingKeys;
      return typeof keys === 'string' ? JSON.parse(keys) : fail('SERVICE_UNAVAILABLE');
    },
    /** What ended at `since` or later, the earliest first; empty if there is no more. */
    async endedSubjects(since: number): Promise<readonly EndedSubject[]> {
      const data = await askAsService(ENDED_SUBJECTS, 'ended-subjects', { since });
      return listOf<EndedSubject>(data?.endedSubjects);
    },
    /** The origins of the pages of all registered apps. */
    async appOrigins(): Promise<readonly string[]> {
      return listOf<string>((await askAsService(APP_ORIGINS, 'app-origins'))?.appOrigins);
    },
  };
}

/** Origins of pages, as browsers send them. */
export type Origins = {
  has(origin: string): boolean;
  /** Reads them again if they may be out of date. Never rejects. */
  update(): Promise<void>;
};

/** The longest lifetime of any token, and of an app's token. */
const TOKEN_LIFETIME_MS = 24 * 3_600_000;
const APP_TOKEN_LIFETIME_MS = 3_600_000;
/** How far the clocks of the processes that end sessions may differ. */
const CLOCK_SKEW_MS = 60_000;

export type OwnTokens = ReturnType<typeof createOwnTokens>;

export function createOwnTokens(provider: OwnProvider, now: () => number = Date.now) {
  const ended = createEndedSubjects(provider, now);
  let origins: ReadonlySet<string> = new Set();
  const jwks = createJwks({
    times: BUILT_IN,
    async fetchKeys() {
      const [keys, listed] = await Promise.all([
        provider.signingKeys(),
        provider.appOrigins(),
        ended.update(),
      ]);
      origins = new Set(listed);
      return keys;
    },
  });
  return {
    jwks,
    /** Whether nothing that the token belongs to has ended, as of when the keys were read. */
    isCurrent({ memberId, clientId, partnerId, sid, issuedAt }: IssuedToken): boolean {
      const isAfter = (subject: string) => issuedAt > ended.timeOf(subject);
      if (!isAfter(`member:${memberId}`)) return false;
      if (clientId === undefined)
        return partnerId === undefined || isAfter(`app:${memberId}/${partnerId}`);
      return [`sid:${sid}`, `app:${memberId}/${clientId}`, `client:${clientId}`].every(isAfter);
    },
    /** The origins of the pages of registered apps, as of when the keys were read. */
    origins: {
      has: (origin) => origins.has(origin),
      async update() {
        // What was read before stands.
        await Promise.resolve(jwks.latest()).catch(() => {});
      },
    } satisfies Origins,
  };
}

/** What ended while its tokens may still live, read a part at a time. */
function createEndedSubjects(provider: Pick<OwnProvider, 'endedSubjects'>, now: () => number) {
  // In the order of their ends as they were read, which is all but that of time.
  const [members, others] = [new Map<string, number>(), new Map<string, number>()];
  const listOf = (subject: string) => (subject.startsWith('member:') ? members : others);
  const timeOf = (subject: string) => listOf(subject).get(subject) ?? Number.NEGATIVE_INFINITY;
  let latest = Number.NEGATIVE_INFINITY;

  const add = ({ subject, endedAt }: EndedSubject) => {
    // A clock that is ahead must not hide what ends by others.
    latest = Math.max(latest, Math.min(endedAt, now()));
    if (endedAt <= timeOf(subject)) return;
    listOf(subject).delete(subject);
    listOf(subject).set(subject, endedAt);
  };

  const forgetOld = (times: Map<string, number>, lifetimeMs: number) => {
    const oldest = now() - lifetimeMs - CLOCK_SKEW_MS;
    for (const [subject, endedAt] of times) {
      if (endedAt > oldest) return;
      times.delete(subject);
    }
  };

  return {
    timeOf,
    async update(): Promise<void> {
      forgetOld(members, TOKEN_LIFETIME_MS);
      forgetOld(others, APP_TOKEN_LIFETIME_MS);
      const begin = Math.max(now() - TOKEN_LIFETIME_MS, latest) - CLOCK_SKEW_MS;
      for (let since = begin; ; ) {
        const part = await provider.endedSubjects(since);
        part.forEach(add);
        const last = part.at(-1)?.endedAt;
        if (last === undefined || last <= since) return;
        since = last;
      }
    },
  };
}
