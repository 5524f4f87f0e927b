// Signing in by a mailed link or code, from the address to the proof: of members, and of staff.
import { randomBytes, randomUUID } from 'node:crypto';
import { addressBlock } from '@partner-loyalty/runtime/http/address.ts';
import type { Metrics } from '@partner-loyalty/runtime/observe/metrics.ts';
import { codeLimits } from '../mail/limits.ts';
import { readCode } from '../rules/mailedcode.ts';
import type { Address } from '../rules/member.ts';
import type { MembersStore } from '../store/store.ts';
import { digest } from '../tables/access.ts';
import type { MailTask } from '../tables/outbox.ts';
import { type Proof, SIGN_IN_MS, secretHash } from '../tables/signins.ts';

/** For how long a browser is known. */
export const YEAR_MS = 365 * 24 * 3_600_000;

export type MailedSignInParts = {
  store: Pick<MembersStore, 'outbox' | 'payloads' | 'signIns'>;
  metrics: Pick<Metrics, 'signIn'>;
  /** Called when there is mail to send. */
  wake(): void;
};

/** `known` is what a browser holds that has signed in before. */
type Beginning = {
  clientAddress: string;
  known: string | undefined;
  /** An app's request or CONSOLE; none on the own page. */
  purpose: string | undefined;
} & Pick<Extract<MailTask, { kind: 'code' }>, 'partnerId' | 'staff'>;

type Problem = { problem: 'wrong' | 'expired'; address: string };

/** The purpose of a sign-in of staff. */
export const CONSOLE = 'console';

/** What a sign-in was begun for, by what the browser holds that began it. */
export function purposeOf(id: string): string | undefined {
  return id.split('.')[1] || undefined;
}

/**
 * `id` is what the browser holds that began a sign-in. It is hashed as a whole, so that no other
 * purpose can take the place of the one in it.
 */
export function createMailedSignIns({ store, metrics, wake }: MailedSignInParts) {
  const { outbox, payloads, signIns } = store;

  /** The row of a browser that has signed in with the address before. */
  const knownKey = (known: string, address: string) => `Known:${digest(`${known}\n${address}`)}`;

  async function isLimited(address: string, client: string, known = ''): Promise<boolean> {
    const isKnown = (await payloads.find(knownKey(known, address))) !== undefined;
    const browser = isKnown ? digest(known) : undefined;
    for (const limit of codeLimits(address, client, browser))
      if (!(await outbox.admit(limit, Date.now()))) return true;
    return false;
  }

  async function prove(signInId: string, kind: 'code' | 'token', typed: string) {
    const outcome = await signIns.finish(signInId, kind, typed);
    if (typeof outcome === 'string') metrics.signIn(outcome === 'wrong' ? 'wrong_code' : 'expired');
    return outcome;
  }

  return {
    /** The same writes, whether mail will be sent or not. Resolves with the browser's new ID. */
    async begin(address: Address, beginning: Beginning) {
      const { clientAddress, known, purpose, partnerId, staff } = beginning;
      const client = addressBlock(clientAddress);
      if (await isLimited(address.canonical, client, known)) {
        metrics.signIn('limited');
        return undefined;
      }
      // Whoever knows the ID of a request could go on with it, so the store does not have it.
      const id = `${randomBytes(32).toString('base64url')}.${purpose ?? ''}`;
      const signInId = digest(id);
      const now = Date.now();
      const expiresAt = now + SIGN_IN_MS;
      await signIns.begin({ signInId, address, client, expiresAt, tries: 0 });
      const of = { ...(partnerId !== undefined && { partnerId }), ...(staff && { staff }) };
      const task = { kind: 'code', signInId, address, ...of } as const;
      await outbox.add({ jobId: randomUUID(), task, requestedAt: now });
      wake();
      return id;
    },

    /** By the code, for what the sign-in was begun for. */
    async byCode(id: string, typed: string, purpose?: string): Promise<Proof | Problem> {
      const signIn = await signIns.find(digest(id));
      const address = signIn?.address.typed ?? '';
      if (signIn === undefined || purposeOf(id) !== purpose) return { problem: 'expired', address };
      const proof = await prove(digest(id), 'code', readCode(typed));
      if (proof === 'wrong') return { problem: 'wrong', address };
      return proof === 'ended' ? { problem: 'expired', address } : proof;
    },

    /** By the link, in the browser that the sign-in was begun in; undefined in any other. */
    async byLink(id: string, token: string): Promise<Proof | undefined> {
      const signInId = digest(id);
      const signIn = await signIns.find(signInId);
      if (signIn?.mailed?.token !== secretHash(signInId, token)) return undefined;
      const proof = await prove(signInId, 'token', token);
      return typeof proof === 'string' ? undefined : proof;
    },

    /** Resolves with what the browser is to hold for a year. */
    async remember(address: string, known: string | undefined, memberId?: string) {
      const held = known ?? randomBytes(32).toString('base64url');
      const payload = { ...(memberId !== undefined && { accountId: memberId }) };
      await payloads.put(knownKey(held, address), payload, Date.now() + YEAR_MS);
      return held;
    },
  };
}
