// `loyalty verify`: looks at every record of the stores and names what is wrong.
import { type KeyStore, openKeyStore, verifyGraphs, verifyKeys } from '@partner-loyalty/gateway';
import { verifyMembers } from '@partner-loyalty/members';
import type { Inspection } from '@partner-loyalty/runtime/store/inspection.ts';
import type { StoreName } from '@partner-loyalty/runtime/store/private.ts';
import { verifyStandings } from '@partner-loyalty/standings';
import { Command } from 'commander';
import type { ServiceShell, Verify } from '../shell/extension.ts';
import { CommandError, oneLine, type Row, type Shell } from '../shell/shell.ts';
import { hasStore } from '../shell/stores.ts';

export function verifyCommand(shell: ServiceShell): Command {
  return new Command('verify')
    .description('look at every record of the stores, and name what is wrong')
    .action(() => verify(shell));
}

async function verify(shell: ServiceShell): Promise<void> {
  const settings = shell.settings();
  const verifiers: Partial<Record<StoreName, Verify>> = {
    members: verifyMembers,
    standings: verifyStandings,
    graph: verifyGraphs,
    ...Object.assign({}, ...shell.extensions.map((extension) => extension.verify)),
    keys: verifyKeys,
  };
  // Cast: Object.entries forgets the names.
  const stores = (Object.entries(verifiers) as [StoreName, Verify][]).filter(([name]) =>
    hasStore(name, settings),
  );
  if (stores.length === 0) throw new CommandError(`there is no store in ${settings.dataDir}`);
  const rows: Row[] = [];
  let faults = 0;
  const keys = hasStore('keys', settings)
    ? await openKeyStore(settings).catch(() => undefined) // Its verification names the reason.
    : undefined;
  const hasPartner = createPartnerCheck(keys);
  try {
    for (const [store, verifier] of stores) {
      const row = await verifyStore(shell, store, (report) =>
        verifier(settings, { report, hasPartner }),
      );
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
  store: StoreName,
  verifyIt: (report: Inspection['report']) => Promise<number>,
) {
  let faults = 0;
  const report = (record: string, problem: string) => {
    faults += 1;
    if (shell.json) shell.print({ store, record, problem });
    else shell.write(`${store}: ${record}: ${problem}\n`);
  };
  let records: number | undefined;
  try {
    records = await verifyIt(report);
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
