// Members' rights on any engine: shows all that the store has of a member, and erases it.
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalEmail, formerEmail } from '@partner-loyalty/runtime/email.ts';
import type { MaybePromise } from '@partner-loyalty/runtime/maybe.ts';
import { enrolledMark } from '../rules/enrollment.ts';
import type { MergedMember } from '../rules/member.ts';
import { addressKey, type MemberRecord } from '../rules/record.ts';
import type { MembersTables } from '../tables/tables.ts';
import { addressesIn, isAbout, isLimitOf, type Traces } from './traces.ts';

export type RightsStore = ReturnType<typeof createRights>;

/**
 * The member's record, or what is left of one who was merged, and how to delete it with all keys:
 * false if it was written since it was read.
 */
type Loaded = { record?: MemberRecord; merged?: MergedMember; remove(): Promise<boolean> };

/** What an engine provides for members' rights. */
export type RightsEngine = {
  marks: {
    has(memberId: string): Promise<boolean>;
    /** `id` is the ID of a member, or an `enrolledMark`. */
    add(id: string): Promise<void>;
    remove(memberId: string): Promise<boolean>;
  };
  find(key: string): MaybePromise<MemberRecord | undefined>;
  load(memberId: string): Promise<Loaded | undefined>;
  /** Takes addresses that were other members' before from the records of these. */
  forgetAddresses(traces: Traces): Promise<void>;
};

type Parts = Omit<MembersTables, 'partners' | 'signingKeys' | 'apps'> & {
  engine: RightsEngine;
  dataDir: string;
};

export function createRights(parts: Parts) {
  const { engine, outbox, invitations, endedSessions, access, signIns } = parts;
  const { marks } = engine;
  return {
    isErased: marks.has,
    /** Takes the mark away that `erase` left. Whether there was one. */
    liftMark: marks.remove,
    /**
     * All that is kept of a member; undefined if there is no such member. Tokens, sessions and apps
     * are without the hashes that they are found by.
     */
    async find(memberId: string) {
      const record = (await engine.load(memberId))?.record;
      if (record === undefined) return undefined;
      const traces = await tracesOf(record, engine);
      const { tokens = [], ...member } = record;
      const { sessions = [], apps = [], language } = (await access.find(memberId)) ?? {};
      return {
        member: { ...member, tokens: tokens.map(({ hash: _, ...token }) => token) },
        invitations: await invitations.select((address) => traces.addresses.has(address)),
        mail: await outbox.select((task) => isAbout(task, traces)),
        mailCounts: await outbox.selectCounts((key) => isLimitOf(key, traces)),
        sessionsEndedAt: await endedSessions.find(memberId),
        sessions: sessions.map(({ sessionId: _, ...session }) => session),
        apps: apps.map(({ grants: _, ...app }) => app),
        language,
        signIns: await signIns.select((address) => traces.addresses.has(address)),
        sandboxMails: await parts.sandboxMails.select((address) => traces.addresses.has(address)),
      };
    },
    /**
     * Deletes all that is kept of a member, and leaves marks: one by which an import of the same ID
     * is refused, and one for each partner that the member was enrolled with. It can be killed and
     * repeated. Whether there was such a member.
     */
    async erase(memberId: string): Promise<boolean> {
      // First, so that nobody imports the member again meanwhile.
      await marks.add(memberId);
      for (;;) {
        const loaded = await engine.load(memberId);
        const traces = loaded?.record
          ? await tracesOf(loaded.record, engine)
          : { memberId, addresses: new Set<string>() };
        // The record comes last: only it leads to the rest.
        await removeQueued(traces, parts);
        if (loaded === undefined) return false;
        if (loaded.record) await engine.forgetAddresses(traces);
        const { record, merged } = loaded;
        const partnerIds = record?.enrollments.map(({ partnerId }) => partnerId);
        for (const partnerId of partnerIds ?? merged?.partnerIds ?? [])
          await marks.add(enrolledMark(partnerId, memberId));
        if (!(await loaded.remove())) continue;
        // What was queued as long as there was a member.
        await removeQueued(traces, parts);
        return true;
      }
    },
  };
}

/** Addresses that lead to another member by now are that member's. */
async function tracesOf(record: MemberRecord, { find }: RightsEngine): Promise<Traces> {
  const { memberId } = record;
  const addresses = new Set<string>();
  for (const address of addressesIn(record)) {
    const holder = await find(addressKey(address));
    if (holder === undefined || holder.memberId === memberId) addresses.add(address);
  }
  return { memberId, addresses };
}

/** Jobs before invitations: whoever holds a job adds one, then looks whether the job is gone. */
async function removeQueued(traces: Traces, parts: Parts): Promise<void> {
  const { outbox, invitations, endedSessions, endedSubjects, access, dataDir } = parts;
  await outbox.discard((task) => isAbout(task, traces));
  await outbox.discardCounts((key) => isLimitOf(key, traces));
  await invitations.discard((address) => traces.addresses.has(address));
  await parts.signIns.discard((address) => traces.addresses.has(address));
  await parts.sandboxMails.discard((address) => traces.addresses.has(address));
  // Its tokens lead to nobody, so nothing has to be refused.
  for (const { forget } of [endedSessions, endedSubjects, access, parts.payloads])
    await forget(traces.memberId);
  await removeMailFiles(dataDir, traces);
}

/** Removes the files in `dataDir/outbox` that name one of the addresses. */
async function removeMailFiles(dataDir: string, { addresses }: Traces): Promise<void> {
  const folder = join(dataDir, 'outbox');
  // Without the folder, no mail was written as a file.
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const path = join(folder, name);
    const text = await readFile(path, 'utf8').catch(() => '');
    // Lines that the encoding has split (RFC 2045, section 6.7).
    const words = text
      .replaceAll('=\r\n', '')
      .split(/[\s<>",;()]+/)
      .filter((word) => word.includes('@'));
    // Addresses are as typed, with an apostrophe or a domain beyond ASCII, for example.
    const forms = words.flatMap((word) => [canonicalEmail(word), formerEmail(word)]);
    if (forms.some((form) => form !== undefined && addresses.has(form)))
      await rm(path, { force: true });
  }
}
