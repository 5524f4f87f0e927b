// `loyalty doctor`: whether what the service needs is there, and what to do if it is not.
import { existsSync, mkdtempSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openCounters } from '@partner-loyalty/gateway';
import { checkMailServer } from '@partner-loyalty/members';
import { noticing } from '@partner-loyalty/runtime/observe/log.ts';
import type { Settings } from '@partner-loyalty/runtime/settings/table.ts';
import { roomOf } from '@partner-loyalty/runtime/store/health.lmdb.ts';
import { checkLmdb } from '@partner-loyalty/runtime/store/lmdb.ts';
import type { StoreName } from '@partner-loyalty/runtime/store/private.ts';
import { Command } from 'commander';
import { finding, type ServiceShell } from '../shell/extension.ts';
import { CommandError } from '../shell/shell.ts';

const MIB = 1_048_576;
/** The alert LoyaltyDiskFull fires below it. */
const LEAST_MIB = 256;

export function doctorCommand(shell: ServiceShell): Command {
  return new Command('doctor')
    .description('check settings, stores, disk, Redis, mail and subgraphs, and say what to do')
    .action(() => doctor(shell));
}

async function doctor(shell: ServiceShell): Promise<void> {
  const findings = await examine(shell.settings(), shell.extensions);
  shell.printAll(findings);
  const failed = findings.filter(({ state }) => state === 'failed').length;
  if (failed > 0) throw new CommandError(`${failed} of ${findings.length} checks failed`);
}

async function examine(settings: Settings, extensions: ServiceShell['extensions']) {
  const { mongodbUrl, dataDir, environment, misspelled } = settings;
  const unread = misspelled.map(({ name, meant }) => `${name} is not read: set ${meant}`);
  let stores: StoreName[] = [];
  const remedy = mongodbUrl ? 'start MongoDB, or correct MONGODB_URL' : 'correct DATA_DIR';
  const ofStores = await finding('stores', remedy, async () => {
    stores = await storesOf(settings);
    return stores.length === 0 ? 'none yet: the first start makes them' : stores.join(', ');
  });
  const others = await Promise.all([
    finding('disk', 'make room, or correct DATA_DIR', () => checkDisk(dataDir)),
    finding('redis', 'start Redis, or correct REDIS_URL', () => checkRedis(settings)),
    finding('mail', 'start the mail server, or correct SMTP_URL', () => checkMail(settings)),
    ...extensions.map((extension) => extension.examine?.(settings, stores) ?? []),
  ]);
  const found = [environment, ...unread].join('; ');
  return [{ check: 'settings', state: 'ok', found }, ofStores, ...others.flat()];
}

async function storesOf({ mongodbUrl, dataDir, environment }: Settings): Promise<StoreName[]> {
  if (mongodbUrl === undefined) return checkLmdb(dataDir, environment);
  // MongoDB's driver takes a while to load.
  const { checkMongo } = await import('@partner-loyalty/runtime/store/mongo.ts');
  return checkMongo(mongodbUrl, environment);
}

function checkDisk(dataDir: string): string {
  let folder = dataDir;
  while (!existsSync(folder)) folder = dirname(folder);
  rmdirSync(mkdtempSync(join(folder, 'doctor-')));
  const found = `${Math.floor(roomOf(folder) / MIB)} MiB left at ${folder}`;
  if (roomOf(folder) < LEAST_MIB * MIB) throw new Error(found);
  return found;
}

async function checkRedis(settings: Settings): Promise<string> {
  if (settings.redisUrl === undefined) return 'none: each process counts budgets on its own';
  let reason = '';
  const log = noticing((text) => {
    reason ||= ` (${text})`;
  });
  const counters = await openCounters(settings, log);
  const isUp = counters.state?.() === 'up';
  counters.close();
  if (!isUp) throw new Error(`it does not respond${reason}`);
  return 'it counts';
}

async function checkMail({ smtpUrl }: Settings): Promise<string> {
  if (smtpUrl === undefined) return 'files in the folder outbox of DATA_DIR';
  await checkMailServer(smtpUrl);
  return 'the mail server answers';
}
