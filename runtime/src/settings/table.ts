// Every setting of the project, one row each (contract, section 5).
import { resolve } from 'node:path';
import type { Environment } from '../environment.ts';
import {
  baseAddress,
  fitting,
  list,
  oneOf,
  origin,
  range,
  subgraphAddress,
  webAddress,
  wholeNumber,
} from './parse.ts';

/** Which process reads the settings: everything in one, the gateway by itself, or one subgraph by itself. */
export type ProcessName = 'all' | 'gateway' | 'members' | 'standings';

export type Settings = {
  environment: Environment;
  port: number;
  host: string;
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
  /** The three of them or none. */
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

export type SettingRow<T = unknown> = {
  name: string;
  /** As the documentation shows it. */
  default: string;
  meaning: string;
  /** The processes that read it; the others leave it alone, even where it is wrong. */
  usedBy: readonly ProcessName[];
  /** Set where the value may hold a password, so that no message repeats it. */
  secret?: true;
  parse: (text: string) => T;
  /** The value where the variable is not set. `known` holds the rows above. */
  unset: (known: Settings, process: ProcessName) => T;
};

const EVERY: readonly ProcessName[] = ['all', 'gateway', 'members', 'standings'];
const GATEWAY: readonly ProcessName[] = ['all', 'gateway'];
const MEMBERS: readonly ProcessName[] = ['all', 'members'];
const IDENTITY: readonly ProcessName[] = ['all', 'gateway', 'members'];
const ROOT = resolve(import.meta.dirname, '../../..');
const none = () => undefined;

/** In the order of the documentation; a row's `unset` may lean on the rows above it. */
export const SETTINGS: { readonly [K in keyof Required<Settings>]: SettingRow<Settings[K]> } = {
  environment: {
    name: 'ENVIRONMENT',
    default: 'sandbox',
    meaning: '`sandbox` (accepts `pk_test_` keys) or `production` (accepts `pk_live_` keys).',
    usedBy: EVERY,
    parse: oneOf('sandbox', 'production'),
    unset: () => 'sandbox',
  },
  port: {
    name: 'PORT',
    default: '4000 sandbox, 4001 production, 4011 members, 4012 standings',
    meaning: 'Where the process listens; 0 takes any free port.',
    usedBy: EVERY,
    parse: wholeNumber(0, 65_535),
    unset: ({ environment }, process) =>
      process === 'members'
        ? 4011
        : process === 'standings'
          ? 4012
          : environment === 'sandbox'
            ? 4000
            : 4001,
  },
  host: {
    name: 'HOST',
    default: '127.0.0.1',
    meaning: 'The address the process listens on.',
    usedBy: EVERY,
    parse: fitting(/^[\w.:%-]{1,253}$/, 'a host name or an address'),
    unset: () => '127.0.0.1',
  },
  sandboxUrl: {
    name: 'SANDBOX_URL',
    default: 'http://localhost:4000',
    meaning: "The sandbox's base address.",
    usedBy: IDENTITY,
    parse: baseAddress,
    unset: () => 'http://localhost:4000',
  },
  productionUrl: {
    name: 'PRODUCTION_URL',
    default: 'http://localhost:4001',
    meaning: "The production's base address.",
    usedBy: IDENTITY,
    parse: baseAddress,
    unset: () => 'http://localhost:4001',
  },
  mongodbUrl: {
    name: 'MONGODB_URL',
    default: 'none: embedded store',
    meaning:
      "Where members, standings and keys are kept, in the URL's database (`loyalty` if it names none).",
    usedBy: EVERY,
    secret: true,
    parse: fitting(
      /^mongodb(\+srv)?:\/\/[^/?\s]+/,
      'an address that starts with mongodb:// or mongodb+srv://',
    ),
    unset: none,
  },
  redisUrl: {
    name: 'REDIS_URL',
    default: 'none: in this process',
    meaning: 'Where the budgets are kept.',
    usedBy: GATEWAY,
    secret: true,
    parse: fitting(/^rediss?:\/\/[^/?\s]+/, 'an address that starts with redis:// or rediss://'),
    unset: none,
  },
  dataDir: {
    name: 'DATA_DIR',
    default: "`data/` and the environment's name",
    meaning: "The embedded store's folder, from the project's root.",
    usedBy: EVERY,
    parse: (text) => resolve(ROOT, text),
    unset: ({ environment }) => resolve(ROOT, 'data', environment),
  },
  rateLimitBudget: {
    name: 'RATE_LIMIT_BUDGET',
    default: '600',
    meaning: "Root fields per window of each key; a partner's own budget wins.",
    usedBy: GATEWAY,
    parse: wholeNumber(1, 1_000_000_000),
    unset: () => 600,
  },
  rateLimitWindowSeconds: {
    name: 'RATE_LIMIT_WINDOW_SECONDS',
    default: '60',
    meaning: 'The length of the window.',
    usedBy: GATEWAY,
    parse: wholeNumber(1, 86_400),
    unset: () => 60,
  },
  membersUrl: {
    name: 'MEMBERS_URL',
    default: 'none: in this process',
    meaning: 'Where the members subgraph runs by itself.',
    usedBy: GATEWAY,
    parse: subgraphAddress,
    unset: none,
  },
  standingsUrl: {
    name: 'STANDINGS_URL',
    default: 'none: in this process',
    meaning: 'Where the standings subgraph runs by itself.',
    usedBy: GATEWAY,
    parse: subgraphAddress,
    unset: none,
  },
  subgraphSecret: {
    name: 'SUBGRAPH_SECRET',
    default: 'none; required once a subgraph runs by itself',
    meaning: 'Signs requests from the gateway to a subgraph; at least 16 characters.',
    usedBy: EVERY,
    secret: true,
    parse: fitting(/^.{16,}$/su, 'at least 16 characters long'),
    unset: none,
  },
  subgraphSecretOld: {
    name: 'SUBGRAPH_SECRET_OLD',
    default: 'none',
    meaning: 'Accepted too, while the secret is being changed.',
    usedBy: EVERY,
    secret: true,
    parse: fitting(/^.{16,}$/su, 'at least 16 characters long'),
    unset: none,
  },
  idTokenIssuer: {
    name: 'ID_TOKEN_ISSUER',
    default: 'the service itself',
    meaning: "The identity provider's `iss`; set together with its audience.",
    usedBy: IDENTITY,
    parse: fitting(/^\S+$/, 'without spaces'),
    unset: none,
  },
  idTokenAudience: {
    name: 'ID_TOKEN_AUDIENCE',
    default: 'the service itself',
    meaning: 'The `aud` of its tokens.',
    usedBy: IDENTITY,
    parse: fitting(/^\S+$/, 'without spaces'),
    unset: none,
  },
  idTokenJwksUrl: {
    name: 'ID_TOKEN_JWKS_URL',
    default: 'as the provider says',
    meaning: 'Where it publishes its keys; without it they are discovered at the issuer.',
    usedBy: IDENTITY,
    parse: (text) => webAddress(text) && text,
    unset: none,
  },
  idTokenMemberClaim: {
    name: 'ID_TOKEN_MEMBER_CLAIM',
    default: '`sub`',
    meaning: "The claim that is the member's id.",
    usedBy: IDENTITY,
    parse: fitting(/^\S+$/, 'without spaces'),
    unset: () => 'sub',
  },
  smtpUrl: {
    name: 'SMTP_URL',
    default: 'none: `.eml` files in `DATA_DIR/outbox`',
    meaning: 'The mail server.',
    usedBy: MEMBERS,
    secret: true,
    parse: fitting(/^smtps?:\/\/[^/?\s]+/, 'an address that starts with smtp:// or smtps://'),
    unset: none,
  },
  mailFrom: {
    name: 'MAIL_FROM',
    default: "`no-reply@` and the base address's host",
    meaning: 'The sender of mail.',
    usedBy: MEMBERS,
    parse: fitting(/^([^<>\r\n]* <[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/, 'a mail address'),
    unset: ({ environment, sandboxUrl, productionUrl }) =>
      `no-reply@${new URL(environment === 'sandbox' ? sandboxUrl : productionUrl).hostname}`,
  },
  trustedProxies: {
    name: 'TRUSTED_PROXIES',
    default: 'none',
    meaning: 'Addresses and CIDR ranges, separated by commas, whose `x-forwarded-for` counts.',
    usedBy: GATEWAY,
    parse: list(range),
    unset: () => [],
  },
  corsOrigins: {
    name: 'CORS_ORIGINS',
    default: 'none',
    meaning: 'Origins, separated by commas, whose browsers may call with a bearer token.',
    usedBy: GATEWAY,
    parse: list(origin),
    unset: () => [],
  },
  logLevel: {
    name: 'LOG_LEVEL',
    default: 'info',
    meaning: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
    usedBy: EVERY,
    parse: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    unset: () => 'info',
  },
  workers: {
    name: 'WORKERS',
    default: '1',
    meaning: 'Processes that share the port, at most 64.',
    usedBy: EVERY,
    parse: wholeNumber(1, 64),
    unset: () => 1,
  },
  adminPort: {
    name: 'ADMIN_PORT',
    default: 'PORT + 10000',
    meaning:
      'Where `/livez`, `/readyz` and `/metrics` are, on HOST; any free port where PORT is 0 or the sum is over 65535.',
    usedBy: EVERY,
    parse: wholeNumber(0, 65_535),
    unset: ({ port }) => (port === 0 || port + 10_000 > 65_535 ? 0 : port + 10_000),
  },
};
