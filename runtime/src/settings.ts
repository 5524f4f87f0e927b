// Every setting of the project, one row each, and the only reader of process.env.
import type { Environment } from './environment.ts';

/** Which process reads the settings: everything in one, the gateway by itself, or one subgraph by itself. */
export type ProcessName = 'all' | 'gateway' | 'members' | 'standings';

export type Settings = {
  port: number;
  host: string;
  environment: Environment;
  /** Base addresses, without a slash at the end. */
  sandboxUrl: string;
  productionUrl: string;
  mongodbUrl?: string;
  redisUrl?: string;
  /** Absolute path. */
  dataDir: string;
  rateLimitBudget: number;
  rateLimitWindowSeconds: number;
  /** Origins, without a path. */
  membersUrl?: string;
  standingsUrl?: string;
  subgraphSecret?: string;
  subgraphSecretOld?: string;
  /** All three or none. */
  idTokenIssuer?: string;
  idTokenAudience?: string;
  idTokenJwksUrl?: string;
  idTokenMemberClaim: string;
  smtpUrl?: string;
  mailFrom: string;
  /** CIDR ranges. */
  trustedProxies: string[];
  corsOrigins: string[];
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  workers: number;
  adminPort: number;
};

export const SETTINGS: readonly { name: string; default: string; meaning: string; usedBy: readonly ProcessName[]; secret: boolean }[] = [];

/** The settings of a process. An empty variable counts as unset. Throws one Error that names every fault, a line each, and no secret. */
export function readSettings(_env: Record<string, string | undefined>, _process: ProcessName): Settings {
  throw new Error('not written yet');
}

/** This process's environment variables: the only place that reads them. */
export function readEnv(): Record<string, string | undefined> {
  return process.env;
}
