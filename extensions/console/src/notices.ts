// Notices to partners' staff, by mail: a key expires soon, an endpoint is failing or disabled.
import { type Ask, exchange } from '@partner-loyalty/gateway/graph/exchange.ts';
import type { KeyRecord, KeyStore } from '@partner-loyalty/gateway/identity/keystore.ts';
import { type NoticeRow, recipientsOf } from '@partner-loyalty/gateway/identity/staff.ts';
import { startLoop } from '@partner-loyalty/runtime/eventloop/loop.ts';
import type { NotedWebhook } from '@partner-loyalty/runtime/manage/webhooks.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { StaffNotice } from '@partner-loyalty/runtime/signin/staff.ts';

const INTERVAL_MS = 5 * 60_000;
const DAY_MS = 86_400_000;
/** How many days before a key expires its partner's staff get a mail. */
const DAYS_BEFORE = [14, 3];
/** How late a notice may be. None is due of a day that a rotation moves further back. */
const MAX_DELAY_MS = DAY_MS;
/** How long an endpoint has failed when its partner's staff get a mail. */
const FAILING_MS = 3_600_000;
/** Longer than an endpoint fails before it is disabled. */
const KEPT_MS = 7 * DAY_MS;
/** How long no other process mails a notice. */
const CLAIM_MS = 60_000;

type NoticeParts = {
  keyStore: Pick<KeyStore, 'expiringKeys' | 'partner' | 'staffTables'>;
  members: { mailStaff(notice: StaffNotice): Promise<void> };
  graphs: { askFeed: Ask };
};

/** The mark that it was mailed is kept until then, which is longer than it is due by any clock. */
type DueNotice = Omit<StaffNotice, 'recipients'> & { keptUntil: number };

/** Mails what is due, now and every 5 minutes. Gateways that share a store mail each once. */
export function startNotices({
  log,
  ...parts
}: NoticeParts & { log: Pick<Log, 'outage' | 'recovered'> }): { close(): Promise<void> } {
  const loop = startLoop((signal) => sendNotices(parts, Date.now(), signal), {
    everyMs: INTERVAL_MS,
    failed: (err) => log.outage({ err }, 'notices to staff wait'),
    recovered: () => log.recovered({}, 'notices to staff are mailed again'),
  });
  loop.wake();
  return { close: loop.stop };
}

/**
 * Mails what is due at `now`, in milliseconds since 1970. Rejects at its end as the first does that
 * cannot be mailed, which is due for a day. If a process ends between the mail and its mark, it is
 * mailed again, with the same ID.
 */
export async function sendNotices(parts: NoticeParts, now: number, signal?: AbortSignal) {
  const faults: unknown[] = [];
  const note = (fault: unknown): [] => {
    faults.push(fault);
    return [];
  };
  for (const find of [dueKeys, ...ENDPOINTS.map(dueEndpoints)])
    for (const notice of await find(parts, now).catch(note)) {
      if (signal?.aborted) return;
      await send(notice, parts, now).catch(note);
    }
  const clean = async () => {
    const { notices, outcomes } = await parts.keyStore.staffTables();
    await notices.removeUntil('until', now);
    // A form removes those of earlier ones, but there may be no other form.
    await outcomes.removeUntil('expiresAt', now);
  };
  await clean().catch(note);
  if (faults.length > 0) throw faults[0];
}

async function dueKeys({ keyStore }: NoticeParts, now: number): Promise<DueNotice[]> {
  const until = new Date(now + Math.max(...DAYS_BEFORE) * DAY_MS);
  const keys = await keyStore.expiringKeys(new Date(now), until);
  return keys.flatMap((key) => noticesOf(key, now));
}

/** The notices of a key that are due: none of a day before its creation. */
function noticesOf({ keyId, partnerId, name, createdAt, expiresAt }: KeyRecord, now: number) {
  const until = expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
  const about = name === undefined ? keyId : `"${name}" (${keyId})`;
  return DAYS_BEFORE.flatMap((days): DueNotice[] => {
    const dueAt = until - days * DAY_MS;
    const isDue = createdAt.getTime() < dueAt && dueAt <= now && now < dueAt + MAX_DELAY_MS;
    const noticeId = `${keyId}/${days}`;
    const keptUntil = dueAt + 2 * MAX_DELAY_MS;
    return isDue ? [{ noticeId, keptUntil, letter: 'keyExpires', partnerId, about, until }] : [];
  });
}

// These fields are on no surface: only the service uses them.
const ENDPOINTS = [
  {
    letter: 'webhookFailing',
    query: 'query ($time: Float!) { answer: failingWebhooks(before: $time) }',
    ageMs: FAILING_MS,
  },
  {
    letter: 'webhookDisabled',
    query: 'query ($time: Float!) { answer: disabledWebhooks(since: $time) }',
    ageMs: MAX_DELAY_MS,
  },
] as const;

function dueEndpoints({ letter, query, ageMs }: (typeof ENDPOINTS)[number]) {
  return async ({ graphs }: NoticeParts, now: number): Promise<DueNotice[]> => {
    const variables = { time: now - ageMs };
    const webhooks = await exchange<NotedWebhook[]>(
      graphs.askFeed,
      query,
      variables,
      'staff-notices',
    );
    return webhooks.map(({ webhookId, partnerId, disabledAt, failingSince = now }) => ({
      noticeId: `${webhookId}/${disabledAt ?? `failing/${failingSince}`}`,
      keptUntil: (disabledAt ?? failingSince) + KEPT_MS,
      ...{ letter, partnerId, about: webhookId },
    }));
  };
}

/** The mark comes after the mail, so that no crash loses it. */
async function send(
  { keptUntil, ...notice }: DueNotice,
  { keyStore, members }: NoticeParts,
  now: number,
): Promise<void> {
  const { noticeId, partnerId } = notice;
  const tables = await keyStore.staffTables();
  const done: NoticeRow = { noticeId, until: keptUntil };
  const isFree = (row: NoticeRow | undefined) =>
    row === undefined || (row.claimedUntil !== undefined && row.claimedUntil <= now);
  // Most were mailed in an earlier round, which a read shows without a write.
  if (!isFree(await tables.notices.get(noticeId))) return;
  const claimed = await tables.notices.update(noticeId, (row) =>
    isFree(row) ? { ...done, claimedUntil: now + CLAIM_MS } : row,
  );
  if (claimed === undefined) return;
  const partner = await keyStore.partner(partnerId);
  const isMailed = partner !== undefined && partner.suspendedAt === undefined;
  const recipients = isMailed ? await recipientsOf(tables, partnerId) : [];
  if (recipients.length > 0) await members.mailStaff({ ...notice, recipients });
  await tables.notices.put(done);
}
