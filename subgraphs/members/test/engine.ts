// A members store for tests, on either engine, and short ways to write its input.
import type { Engine } from '../../../test/support/engines.ts';
import { emptyPlace } from '../../../test/support/servers/databases.ts';
import {
  type Address,
  canonicalEmail,
  type MemberImport,
  type MembersStore,
  openMembersStore,
  verifyMembers,
} from '../src/index.ts';

export type Place = {
  settings: { mongodbUrl?: string; dataDir: string };
  /** Opens the store; opened again, it shares its data. */
  open(environment?: 'sandbox' | 'production', keyEncryptionKey?: string): Promise<MembersStore>;
  /** How many members verifying the stored data reads, and what it finds. */
  verify(): Promise<{ members: number; faults: string[] }>;
  /** Closes all opened stores. */
  closeAll(): Promise<void>;
  /** Closes all opened stores and removes their data. */
  release(): Promise<void>;
};

/** Prepares an empty place for a store. */
export function newPlace(engine: Engine = 'lmdb'): Place {
  const { settings, release } = emptyPlace(engine);
  const opened: MembersStore[] = [];
  const closeAll = async () => {
    for (const store of opened.splice(0)) await store.close();
  };
  return {
    settings,
    async open(environment = 'sandbox', keyEncryptionKey) {
      const store = await openMembersStore({ ...settings, environment, keyEncryptionKey });
      opened.push(store);
      return store;
    },
    async verify() {
      const faults: string[] = [];
      const members = await verifyMembers(
        { ...settings, mongodbUrl: settings.mongodbUrl, environment: 'sandbox' },
        {
          report: (record, problem) => void faults.push(`${record}: ${problem}`),
          hasPartner: async () => true,
        },
      );
      return { members, faults };
    },
    closeAll,
    async release() {
      await closeAll();
      await release();
    },
  };
}

/** An address from a text that must be one. */
export function address(typed: string): Address {
  const canonical = canonicalEmail(typed);
  if (canonical === undefined) throw new Error(`a test uses an invalid address: ${typed}`);
  return { typed, canonical };
}

/** One member of an import. */
export function memberImport(
  email: string,
  more: Partial<Omit<MemberImport, 'address' | 'previousAddresses'>> & { previous?: string[] } = {},
): MemberImport {
  const { previous = [], enrollments = [], ...rest } = more;
  return {
    address: address(email),
    previousAddresses: previous.map(address),
    enrollments,
    ...rest,
  };
}
