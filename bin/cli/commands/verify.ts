// `loyalty verify`: looks at every record of the stores and names what is wrong.
import {
  type KeyStore,
  openKeyStore,
  verifyGraphs,
  verifyKeys,
  verifyUsage,
} from '@partner-loyalty/gateway';
import { verifyMembers } from '@partner-loyalty/members';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import { verifyStandings } from '@partner-loyalty/standings';
import { Command } from 'commander';
import { CommandError, oneLine, type Row, type Shell } from '../shell/shell.ts';
import { hasStore } from '../shell/stores.ts';

type Verify = (settings: Settings, inspection: Inspection) => Promise<number>;

const VERIFY = {
  members: verifyMembers,
  standings: verifyStandings,
  graph: verifyGraphs,
  usage: verifyUsage,
  keys: verifyKeys,
} satisfies Record<string, Verify>;

type VerifiedStore = keyof typeof VERIFY;

export function verifyCommand(shell: Shell): Command {
  return new Command('verify')
    .description('look at every record of the stores, and name what is wrong')
    .action(() => verify(shell));
}

async function verify(shell: Shell): Promise<void> {
  const settings = shell.settings();
  // Cast: Object.keys forgets the names.
  const stores = (Object.keys(VERIFY) as VerifiedStore[]).filter((one) => hasStore(one, settings));
  if (stores.length === 0) throw new CommandError(`there is no store in ${settings.dataDir}`);
  const rows: Row[] = [];
  let faults = 0;
  const keys = hasStore('keys', settings)
    ? await openKeyStore(settings).catch(() => undefined) // Its verification names the reason.
    : undefined;
  const hasPartner = createPartnerCheck(keys);
  try {
    for (const store of stores) {
      const row = await verifyStore(shell, settings, store, hasPartner);
      rows.push(row);
      faults += row.faults;
    }
  } finally {
    await keys?.close();
  }
  shell.printAll(rows);
  if (faults > 0) throw new CommandError(faults === 1 ? '1 fault' : `${faults} faults`);
}

async function verifyStore(
  shell: Shell,
  settings: Settings,
  store: VerifiedStore,
  hasPartner: Inspection['hasPartner'],
) {
  let faults = 0;
  const report = (record: string, problem: string) => {
    faults += 1;
    if (shell.json) shell.print({ store, record, problem });
    else shell.write(`${store}: ${record}: ${problem}\n`);
  };
  let records: number | undefined;
  try {
    records = await VERIFY[store](settings, { report, hasPartner });
  } catch (error) {
    report('the store', `it cannot be read: ${oneLine(error)}`);
  }
  return { store, records, faults };
}

/**
 * Asks the key store about each partner once. Partners are never removed, so one that a snapshot
 * names exists now, even if it was created while the stores were being read. Without a key store
 * that can be read, nobody knows, and none is missing.
 */
function createPartnerCheck(keys: KeyStore | undefined): Inspection['hasPartner'] {
  const known = new Map<string, Promise<boolean>>();
  return (partnerId) => {
    const answer =
      known.get(partnerId) ??
      keys?.partner(partnerId).then(
        (partner) => partner !== undefined,
        () => true, // The verification of the key store names it.
      ) ??
      Promise.resolve(true);
    known.set(partnerId, answer);
    return answer;
  };
}
