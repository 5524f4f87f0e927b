// Members' rights: shows all that the store has of a member, and erases it.
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalEmail } from '@partner-loyalty/runtime/email.ts';
import { pagesOf } from '@partner-loyalty/runtime/store/engine/pages.ts';
import type { Store } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { Marks } from '@partner-loyalty/runtime/store/marks/marks.ts';
import { enrolledMark } from '../rules/enrollment.ts';
import { addressKey, type MemberRecord } from '../rules/record.ts';
import { knownId } from '../tables/payloads.ts';
import type { MembersTables } from '../tables/tables.ts';
import type { ApplyRule } from './apply.ts';
import type { EventStore } from './eventstore.ts';
import { isMerged, MEMBERS, MENTIONS } from './rows.ts';
import type { FindRecord } from './tokenstore.ts';
import { isAbout, isLimitOf, ownAddresses, type Traces, withoutAddresses } from './traces.ts';

type Parts = {
  store: Store;
  marks: Marks;
  events: Pick<EventStore, 'forget'>;
  apply: ApplyRule;
  find: FindRecord;
  others: MembersTables;
  dataDir: string;
  /** Called before anything is erased. */
  onErasure(): Promise<void>;
};

export function createRights(parts: Parts) {
  const { store, marks, events, apply, find, onErasure } = parts;
  const { outbox, invitations, endedSessions, access, signIns, sandboxMails } = parts.others;
  return {
    isErased: async (memberId: string) => marks.has(memberId),
    /**
     * Takes the mark away that `erase` left, after ending the sessions of before, whose tokens the
     * ID leads to again. Whether there was one.
     */
    async liftMark(memberId: string): Promise<boolean> {
      await endedSessions.end({ memberId, endedAt: Date.now() });
      return store.transact((tx) => marks.remove(tx, memberId));
    },
    /**
     * All that is kept of a member; undefined if there is no such member. Tokens, sessions and apps
     * are without the hashes that they are found by.
     */
    async find(memberId: string) {
      const record = await store.get(MEMBERS, [memberId]);
      if (record === undefined || isMerged(record)) return undefined;
      const traces = await tracesOf(record, find);
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
        knownBrowsers: await browsersOf(traces, parts),
        signIns: await signIns.select((address) => traces.addresses.has(address)),
        sandboxMails: await sandboxMails.select((address) => traces.addresses.has(address)),
      };
    },
    /**
     * Deletes all that is kept of a member, and leaves marks: one by which an import of the same ID
     * is refused, and one for each partner that the member was enrolled with. It can be killed and
     * repeated. Whether there was such a member.
     */
    async erase(memberId: string): Promise<boolean> {
      await onErasure();
      // First, so that nobody imports the member again meanwhile.
      await store.transact((tx) => marks.add(tx, memberId));
      for (;;) {
        const row = await store.get(MEMBERS, [memberId]);
        const traces =
          row === undefined || isMerged(row)
            ? { memberId, addresses: new Set<string>() }
            : await tracesOf(row, find);
        // The record comes last: only it leads to the rest.
        await removeQueued(traces, parts);
        await forgetAddresses(traces, parts);
        if (!(await remove(traces))) continue;
        await events.forget(memberId);
        // What was queued as long as there was a member.
        await removeQueued(traces, parts);
        return row !== undefined;
      }
    },
  };

  /** False if it has an address by now that nothing was looked for by. */
  function remove({ memberId, addresses }: Traces): Promise<boolean> {
    return apply((records, tx) => {
      const row = tx.get(MEMBERS, [memberId]);
      if (row === undefined) return true;
      const isNew = (address: string) =>
        !addresses.has(address) &&
        (records.byKey(addressKey(address))?.memberId ?? memberId) === memberId;
      if (!isMerged(row) && [...ownAddresses(row)].some(isNew)) return false;
      const partnerIds = isMerged(row)
        ? row.partnerIds
        : row.enrollments.map(({ partnerId }) => partnerId);
      for (const partnerId of partnerIds) marks.add(tx, enrolledMark(partnerId, memberId));
      records.remove(memberId, row);
      return true;
    });
  }
}

/** Addresses that lead to another member by now are that member's. */
async function tracesOf(record: MemberRecord, find: FindRecord): Promise<Traces> {
  const { memberId } = record;
  const addresses = new Set<string>();
  for (const address of ownAddresses(record)) {
    const holder = await find(addressKey(address));
    if (holder === undefined || holder.memberId === memberId) addresses.add(address);
  }
  return { memberId, addresses };
}

/** How many browsers each address knows. */
async function browsersOf({ addresses }: Traces, { others }: Parts) {
  const found = await Promise.all(
    [...addresses].map(async (address) => {
      const { browsers } = (await others.payloads.find(knownId(address))) ?? {};
      return Array.isArray(browsers) ? [{ address, browsers: browsers.length }] : [];
    }),
  );
  return found.flat();
}

/** Takes the addresses from the records of other members, who had them before. */
async function forgetAddresses({ memberId, addresses }: Traces, { store, apply }: Parts) {
  for (const address of addresses)
    for await (const page of pagesOf(store, MENTIONS, { prefix: [address] }))
      for (const { key } of page) {
        const other = String(key[1]);
        if (other !== memberId)
          await apply((records) => {
            const record = records.byId(other);
            if (record !== undefined) records.write(record, withoutAddresses(record, addresses));
          });
      }
}

/** Jobs before invitations: whoever holds a job adds one, then looks whether the job is gone. */
async function removeQueued(traces: Traces, { others, dataDir }: Parts): Promise<void> {
  const { outbox, invitations, endedSessions, endedSubjects, access } = others;
  await outbox.discard((task) => isAbout(task, traces));
  await outbox.discardCounts((key) => isLimitOf(key, traces));
  await invitations.discard((address) => traces.addresses.has(address));
  await others.signIns.discard((address) => traces.addresses.has(address));
  await others.sandboxMails.discard((address) => traces.addresses.has(address));
  await others.payloads.removeAll([...traces.addresses].map(knownId));
  // Its tokens lead to nobody, so nothing has to be refused.
  for (const { forget } of [endedSessions, endedSubjects, access, others.payloads])
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
    if (words.some((word) => addresses.has(canonicalEmail(word) ?? '')))
      await rm(path, { force: true });
  }
}
