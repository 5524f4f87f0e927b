// Partners' staff, their sessions in the console, and the tables of notices and forms.
import { hash, randomBytes } from 'node:crypto';
import { canonicalEmail } from '@partner-loyalty/runtime/email.ts';
import type { StaffRecipient } from '@partner-loyalty/runtime/signin/staff.ts';
import type { Transaction } from '@partner-loyalty/runtime/store/engine/store.ts';
import type { OpenTable, TableDefinition } from '@partner-loyalty/runtime/store/table.ts';
import { OUTCOMES } from './outcomes.ts';

export const STAFF_ROLES = ['admin', 'viewer'] as const;
export type StaffRole = (typeof STAFF_ROLES)[number];

/** Somebody who may see, or with the role `admin` change, what belongs to one partner. */
export type Staff = {
  staffId: string;
  partnerId: string;
  /** The address as it was typed at the invitation. */
  email: string;
  role: StaffRole;
  createdAt: Date;
};

/** `isInvited` until the person signs in to the partner, and gets its notices. */
type StaffRow = Omit<Staff, 'createdAt'> & {
  address: string;
  createdAt: number;
  isInvited?: true;
};

/**
 * A canonical address, for which partners it is staff, and in which language it signed in last.
 * `email` is the address as all of them typed it; if they differ, nobody knows whose mailbox is
 * meant, and mail goes to the canonical form.
 */
type AddressRow = {
  address: string;
  email?: string | undefined;
  places: Pick<Staff, 'partnerId' | 'staffId'>[];
  language?: string;
};

/** `expiresAt` is in milliseconds since 1970. */
export type ConsoleSession = {
  /** The hash of what the browser holds. */
  sessionId: string;
  /** The canonical address that was proved. */
  address: string;
  /** The partner that was chosen, by what the address is there. */
  staffId?: string | undefined;
  /** Set in sessions of the demo, whose admin is stored nowhere else. */
  demoPartnerId?: string | undefined;
  /** Whether it is a link that begins such a session, once. */
  isLink?: true | undefined;
  /** Signed out. It is kept as long as what began it can be repeated. */
  hasEnded?: true | undefined;
  expiresAt: number;
};

export const STAFF: TableDefinition<StaffRow> = { name: 'staff', id: 'staffId' };
export const STAFF_ADDRESSES: TableDefinition<AddressRow> = {
  name: 'staffaddresses',
  id: 'address',
};
export const CONSOLE_SESSIONS: TableDefinition<ConsoleSession> = {
  name: 'consolesessions',
  id: 'sessionId',
  orders: ['expiresAt'],
};

/**
 * A notice that was mailed to a partner's staff, or is being mailed: `claimedUntil` then says until
 * when no other process does. `until` is when it is forgotten. Both are in milliseconds since 1970.
 */
export type NoticeRow = { noticeId: string; until: number; claimedUntil?: number };

export const STAFF_NOTICES: TableDefinition<NoticeRow> = {
  name: 'staffnotices',
  id: 'noticeId',
  orders: ['until'],
};

export const STAFF_TABLES = [STAFF, STAFF_ADDRESSES, CONSOLE_SESSIONS, STAFF_NOTICES, OUTCOMES];

export type StaffTables = Awaited<ReturnType<typeof openStaffTables>>;

export async function openStaffTables(open: OpenTable) {
  return {
    staff: await open(STAFF),
    addresses: await open(STAFF_ADDRESSES),
    sessions: await open(CONSOLE_SESSIONS),
    notices: await open(STAFF_NOTICES),
    outcomes: await open(OUTCOMES),
    transact: open.transact,
  };
}

/** The most staff of a partner. An operator cannot exceed it either. */
export const MAX_STAFF = 200;

/** Somebody who has to be an admin when a change is written was none any more. */
export class NotAdminError extends Error {}

/** `admins` are IDs of staff. */
function requireAdmins({ staff }: StaffTables, tx: Transaction, admins: readonly string[]): void {
  for (const staffId of admins) {
    let role: StaffRole | undefined;
    staff.change(tx, staffId, (row) => {
      role = row?.role;
      return row;
    });
    if (role !== 'admin') throw new NotAdminError();
  }
}

/**
 * Adds an address to a partner's staff, or changes its role there. `invalid` if it is no address,
 * `full` if the partner has 200 others. Rejects with a NotAdminError unless all `admins` are.
 */
export async function inviteStaff(
  tables: StaffTables,
  { partnerId, email, role }: Pick<Staff, 'partnerId' | 'email' | 'role'>,
  admins: readonly string[] = [],
): Promise<Staff | 'invalid' | 'full'> {
  const address = canonicalEmail(email);
  if (address === undefined) return 'invalid';
  const { staff, addresses, transact } = tables;
  const others = await listStaff(tables, partnerId);
  const isKnown = (await placesOf(tables, address)).some((one) => one.partnerId === partnerId);
  if (!isKnown && others.length >= MAX_STAFF) return 'full';
  const fresh = `${prefixOf(partnerId)}${randomBytes(9).toString('base64url')}`;
  const typed = email.trim();
  const createdAt = Date.now();
  return transact((tx) => {
    requireAdmins(tables, tx, admins);
    let staffId = fresh;
    addresses.change(tx, address, (before) => {
      const { places = [] } = before ?? {};
      const known = places.find((one) => one.partnerId === partnerId);
      staffId = known?.staffId ?? fresh;
      const same = places.length === 0 || before?.email === typed ? typed : undefined;
      const next = [...places, { partnerId, staffId }];
      return known ? before : { ...before, address, email: same, places: next };
    });
    const added = { staffId, partnerId, email: typed, address, role, createdAt };
    const invited = { ...added, isInvited: true as const };
    const row = staff.change(tx, staffId, (before) => ({ ...(before ?? invited), role }));
    return toStaff(row ?? added);
  });
}

/**
 * Changes a role. False if there is nobody with the ID. Rejects with a NotAdminError unless
 * all `admins` are.
 */
export async function changeRole(
  tables: StaffTables,
  { staffId, role }: Pick<Staff, 'staffId' | 'role'>,
  admins: readonly string[],
): Promise<boolean> {
  const changed = await tables.transact((tx) => {
    requireAdmins(tables, tx, admins);
    return tables.staff.change(tx, staffId, (before) => before && { ...before, role });
  });
  return changed !== undefined;
}

/** The staff of a partner in the order of their addresses. */
export async function listStaff({ staff }: StaffTables, partnerId: string): Promise<Staff[]> {
  const found = await staff.startingWith(prefixOf(partnerId));
  return found
    .filter((row) => row.partnerId === partnerId)
    .sort((one, other) => (one.address < other.address ? -1 : 1))
    .map(toStaff);
}

/**
 * Takes somebody off a partner's staff, whose sessions there end. False if there is nobody with the
 * ID, or only with another partner than the one that is given. Rejects with a NotAdminError unless
 * all `admins` are.
 */
export async function removeStaff(
  tables: StaffTables,
  staffId: string,
  partnerId?: string,
  admins: readonly string[] = [],
): Promise<boolean> {
  const { staff, addresses, sessions, transact } = tables;
  const removed = await transact((tx) => {
    requireAdmins(tables, tx, admins);
    let row: StaffRow | undefined;
    staff.change(tx, staffId, (before) => {
      const isTheirs = partnerId === undefined || before?.partnerId === partnerId;
      row = isTheirs ? before : undefined;
      return isTheirs ? undefined : before;
    });
    if (row === undefined) return undefined;
    const { address } = row;
    let isLast = true;
    addresses.change(tx, address, (before) => {
      const places = before?.places.filter((one) => one.staffId !== staffId) ?? [];
      isLast = places.length === 0;
      return isLast ? undefined : { ...before, address, places };
    });
    return { address, isLast };
  });
  if (removed === undefined) return false;
  // Whoever is invited again signs in again. A session without a choice is other partners', too.
  const ending = removed.isLast ? [staffId, undefined] : [staffId];
  await sessions.removeWhere(
    (session) => session.address === removed.address && ending.includes(session.staffId),
  );
  return true;
}

/**
 * Whether it is anybody's staff, and how it was typed: one read, so that its time says nothing.
 */
export async function staffAddress({ addresses }: StaffTables, address: string) {
  const row = await addresses.get(address);
  return { isStaff: row !== undefined, staffEmail: row?.email };
}

/** What a canonical address is for each partner that it is staff of. */
export async function placesOf(
  { staff, addresses }: StaffTables,
  address: string,
): Promise<Staff[]> {
  const { places = [] } = (await addresses.get(address)) ?? {};
  const rows = await Promise.all(places.map(({ staffId }) => staff.get(staffId)));
  return rows.flatMap((row) => (row === undefined ? [] : toStaff(row)));
}

/** Keeps the language that somebody signs in with, for mail. */
export async function keepLanguage({ addresses }: StaffTables, address: string, language: string) {
  await addresses.update(address, (before) =>
    before === undefined || before.language === language ? before : { ...before, language },
  );
}

/** Notes that somebody is signed in to the partner. */
export async function joinStaff({ staff }: StaffTables, staffId: string): Promise<void> {
  await staff.update(staffId, (before) => {
    if (!before?.isInvited) return before;
    const { isInvited, ...joined } = before;
    return joined;
  });
}

/** The addresses that get a notice to a partner's staff: nobody who was added without agreeing. */
export async function recipientsOf(
  { staff, addresses }: StaffTables,
  partnerId: string,
): Promise<StaffRecipient[]> {
  const rows = await staff.startingWith(prefixOf(partnerId));
  const ofPartner = rows.filter((row) => row.partnerId === partnerId && !row.isInvited);
  const add = async ({ staffId, address, email }: StaffRow) => {
    const { language } = (await addresses.get(address)) ?? {};
    return { staffId, address, email, language };
  };
  return Promise.all(ofPartner.map(add));
}

/** How long a link of the demo works. */
const DEMO_LINK_MS = 15 * 60_000;
export const DEMO_PREFIX = 'demo_';

/** Makes the token of a link that signs a browser in as an admin of a demo's partner, once. */
export async function makeDemoToken(
  { sessions }: StaffTables,
  demoPartnerId: string,
): Promise<string> {
  const token = `${DEMO_PREFIX}${randomBytes(32).toString('base64url')}`;
  const expiresAt = Date.now() + DEMO_LINK_MS;
  const sessionId = hash('sha256', token);
  await sessions.put({ sessionId, address: 'demo', demoPartnerId, isLink: true, expiresAt });
  return token;
}

/** The beginning of the IDs of a partner's staff, and perhaps of another's. */
function prefixOf(partnerId: string): string {
  return `staff_${hash('sha256', partnerId).slice(0, 12)}`;
}

function toStaff({ staffId, partnerId, email, role, createdAt }: StaffRow): Staff {
  return { staffId, partnerId, email, role, createdAt: new Date(createdAt) };
}
