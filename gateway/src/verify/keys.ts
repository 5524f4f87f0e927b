// Verifies the store of partners and keys.
import { isDeepStrictEqual } from 'node:util';
import { openStore } from '@partner-loyalty/runtime/store/engine/open.ts';
import type { Entry, Store } from '@partner-loyalty/runtime/store/engine/store.ts';
import { verifyTable } from '@partner-loyalty/runtime/store/engine/verify.ts';
import type { StoreSettings } from '@partner-loyalty/runtime/store/engine.ts';
import { hasShape, type Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { type NamedTable, verifyRows } from '@partner-loyalty/runtime/store/tables.ts';
import * as z from 'zod';
import { KEY_TABLES, KEYS, PARTNERS, type StoredKey } from '../identity/keystore.ts';
import { OUTCOMES } from '../identity/outcomes.ts';
import { CONSOLE_SESSIONS, STAFF, STAFF_ADDRESSES, STAFF_NOTICES } from '../identity/staff.ts';

type Report = Inspection['report'];

const text = z.string().min(1);
/** Milliseconds since 1970. */
const time = z.number();

const PARTNER = z.looseObject({
  name: text,
  createdAt: time,
  suspendedAt: time.nullish(),
  scopes: z.array(text).nullish(),
  allow: z.array(text).nullish(),
});

const KEY = z.looseObject({
  keyId: text,
  name: text.nullish(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  lastFour: z.string().length(4).nullish(),
  createdAt: time,
  expiresAt: time.nullish(),
  revokedAt: time.nullish(),
  endpoint: text.nullish(),
  scopes: z.array(text).nullish(),
  allow: z.array(text).nullish(),
});

const STAFF_ROWS: readonly NamedTable[] = [
  [STAFF, (staffId) => `staff ${staffId}`],
  [STAFF_ADDRESSES, () => 'an address of staff'],
  [CONSOLE_SESSIONS, (id) => `console session ${id}`],
  [STAFF_NOTICES, (id) => `notice ${id}`],
  [OUTCOMES, (id) => `outcome of form ${id}`],
];

/** Reports what is wrong with the store, and resolves with the number of partners and keys. */
export async function verifyKeys(settings: StoreSettings, { report }: Inspection): Promise<number> {
  const store = await openStore(settings, 'keys', KEY_TABLES);
  try {
    await verifyRows(store, STAFF_ROWS, report);
    return (await verifyPartners(store, report)) + (await verifyKeyRows(store, report));
  } finally {
    await store.close();
  }
}

function verifyPartners(store: Store, report: Report): Promise<number> {
  const reportPartner = ([id]: Entry<object>['key'], problem: string) =>
    report(`partner ${id}`, problem);
  return verifyTable(store, PARTNERS, reportPartner, {
    inspect(page) {
      for (const { key, row } of page) {
        hasShape(PARTNER, row, (problem) => reportPartner(key, problem));
        if (row.partnerId !== key[0]) reportPartner(key, 'the record has another ID');
      }
    },
  });
}

function verifyKeyRows(store: Store, report: Report): Promise<number> {
  const reportKey = ([id]: Entry<object>['key'], problem: string) => report(`key ${id}`, problem);
  return verifyTable(store, KEYS, reportKey, {
    async inspect(page) {
      const partners = await store.getAll(
        PARTNERS,
        page.map(({ row }) => [row.key.partnerId]),
      );
      for (const [place, { key: id, row }] of page.entries()) {
        const { keyId, partnerId } = row.key;
        hasShape(KEY, row.key, (problem) => reportKey(id, problem));
        if (keyId !== id[0]) reportKey(id, 'the record has another ID');
        const partner = partners[place];
        if (partner === undefined)
          reportKey(id, `the key is of partner ${partnerId}, which does not exist`);
        else if (!isDeepStrictEqual(partner, row.partner) && !(await hasItsPartner(store, row)))
          reportKey(id, `the key does not have partner ${partnerId} as it is`);
      }
    },
  });
}

/** Looks at both at the same moment. */
async function hasItsPartner(store: Store, { key }: StoredKey): Promise<boolean> {
  return store.view((tx) =>
    isDeepStrictEqual(tx.get(KEYS, [key.keyId])?.partner, tx.get(PARTNERS, [key.partnerId])),
  );
}
