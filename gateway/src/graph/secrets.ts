// The stored secrets of other teams' subgraphs: made, changed and followed while gateways run.
import { startLoop } from '@partner-loyalty/runtime/eventloop/loop.ts';
import type { Log } from '@partner-loyalty/runtime/observe/log.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { createSealedSecrets } from '@partner-loyalty/runtime/store/vault.ts';
import { withTimeout } from '@partner-loyalty/runtime/timeout.ts';
import type { SubgraphSecrets } from '@partner-loyalty/runtime/transport/secrets.ts';
import type { GraphStore } from './graph.ts';
import type { RegistryTables, SecretsRow, StoredSecret } from './tables.ts';

type Table = RegistryTables['secrets'];
type SealSettings = Pick<Settings, 'environment' | 'keyEncryptionKey'>;

const PREFIX = 'ss_';
/** An old secret that no request has needed for so long ends. */
const UNUSED_MS = 24 * 60 * 60_000;
const NOTE_MS = 60_000;
/** How often a newer secret is tried first, in case the subgraph accepts both. */
const TRY_MS = 60_000;
/** Gateways know a secret within 5 seconds. */
const READ_MS = 2_000;

/**
 * Makes a secret, stores it encrypted, and returns it. The one that the subgraph accepted last
 * stays; one that it has never accepted is replaced. Undefined in production without
 * KEY_ENCRYPTION_KEY.
 */
export async function rotateSecret(
  table: Table,
  settings: SealSettings,
  subgraph: string,
  now = Date.now(),
): Promise<string | undefined> {
  const { isUsable, create } = createSealedSecrets(PREFIX, settings);
  if (!isUsable) return undefined;
  const { secret, sealed } = await create();
  await table.update(subgraph, (before) => {
    const kept = acceptedLast(before?.secrets ?? []);
    return { subgraph, secrets: [...(kept ? [kept] : []), { sealed, createdAt: now }] };
  });
  return secret;
}

/** Ends the older one of two secrets. False if there are not two. */
export async function dropOldSecret(table: Table, subgraph: string): Promise<boolean> {
  const written = await table.update(subgraph, (before) =>
    before === undefined || before.secrets.length < 2
      ? before
      : { subgraph, secrets: before.secrets.slice(-1) },
  );
  return written !== undefined;
}

function acceptedLast<Secret extends StoredSecret>(secrets: readonly Secret[]): Secret | undefined {
  return secrets
    .filter(({ acceptedAt }) => acceptedAt !== undefined)
    .sort((one, other) => (one.acceptedAt ?? 0) - (other.acceptedAt ?? 0))
    .at(-1);
}

/** Notes that the subgraph has accepted a secret; an old one that is not needed any more ends. */
async function noteAccepted(table: Table, subgraph: string, sealed: string, now: number) {
  await table.update(subgraph, (before) => {
    const place = before?.secrets.findIndex((each) => each.sealed === sealed) ?? -1;
    const found = before?.secrets[place];
    if (before === undefined || found === undefined) return before;
    const secrets = before.secrets.with(place, { ...found, acceptedAt: now });
    return { subgraph, secrets: withoutUnused(secrets, now) };
  });
}

function withoutUnused(secrets: SecretsRow['secrets'], now: number): SecretsRow['secrets'] {
  const [older, newer] = secrets;
  if (older === undefined || newer?.acceptedAt === undefined) return secrets;
  // While there was only one, its use was not noted.
  const neededAt = Math.max(older.acceptedAt ?? 0, newer.createdAt);
  return newer.acceptedAt >= neededAt && now - neededAt >= UNUSED_MS ? [newer] : secrets;
}

export type OpenSecrets = SubgraphSecrets & {
  /** Reads them again. */
  read(): Promise<void>;
  /** Resolves when all that was noted is stored, or cannot be. */
  close(): Promise<void>;
};

type Parts = {
  store: Pick<GraphStore, 'tables'>;
  settings: SealSettings;
  log: Pick<Log, 'outage'>;
};
type Known = StoredSecret & { secret: string };

/** The secrets of a subgraph, as they were read last; none at first. */
export function openSecrets(
  subgraph: string,
  { store, settings, log }: Parts,
  now: () => number = Date.now,
): OpenSecrets {
  const { unseal } = createSealedSecrets(PREFIX, settings);
  let known: readonly Known[] = [];
  let accepted: string | undefined;
  let triedAt = 0;
  let noting = Promise.resolve();

  async function read(): Promise<void> {
    const row = await (await store.tables()).secrets.get(subgraph);
    const next: Known[] = [];
    for (const stored of row?.secrets ?? []) {
      const { sealed } = stored;
      const before = known.find((each) => each.sealed === sealed);
      const secret = before?.secret ?? (await unseal(sealed).catch(noteWrongKey));
      if (secret !== undefined) next.push({ ...stored, secret });
    }
    if (next.length > known.length) triedAt = now();
    known = next;
    if (!known.some(({ secret }) => secret === accepted)) accepted = acceptedLast(known)?.secret;
  }

  function noteWrongKey(): undefined {
    const reason = 'KEY_ENCRYPTION_KEY is not set, or is another key';
    log.outage({ subgraph, reason }, 'the secret of a subgraph cannot be decrypted');
  }

  async function note({ sealed }: Known): Promise<void> {
    try {
      await noteAccepted((await store.tables()).secrets, subgraph, sealed, now());
    } catch (err) {
      log.outage({ store: 'graph', subgraph, err }, 'the use of a secret could not be noted');
    }
  }

  return {
    read,
    first() {
      const [older, newer] = known;
      if (newer !== undefined && newer.secret !== accepted && now() - triedAt >= TRY_MS) {
        triedAt = now();
        return newer.secret;
      }
      return accepted ?? older?.secret;
    },
    other: (refused) => known.find(({ secret }) => secret !== refused)?.secret,
    accepted(secret) {
      const found = known.find((each) => each.secret === secret);
      if (found === undefined) return;
      accepted = secret;
      const { acceptedAt } = found;
      if (acceptedAt !== undefined && (known.length < 2 || now() - acceptedAt < NOTE_MS)) return;
      found.acceptedAt = now();
      noting = noting.then(() => note(found));
    },
    close: () => noting,
  };
}

/** Opens the secrets of a subgraph and reads them every 2 seconds, until they are closed. */
export async function followSecrets(
  subgraph: string,
  { log, ...parts }: Parts & { log: Pick<Log, 'recovered'> },
): Promise<OpenSecrets> {
  const secrets = openSecrets(subgraph, { log, ...parts });
  const fields = { store: 'graph', subgraph };
  const loop = startLoop(secrets.read, {
    everyMs: READ_MS,
    failed: (err) => log.outage({ ...fields, err }, 'the secret of a subgraph cannot be read'),
    recovered: () => log.recovered(fields, 'the secret of a subgraph is read again'),
  });
  // A store that hangs must not keep the graph from serving.
  await withTimeout(loop.run(), READ_MS, 'the store of graphs does not answer').catch(() => {});
  return {
    ...secrets,
    async close() {
      void loop.stop();
      await secrets.close();
    },
  };
}
